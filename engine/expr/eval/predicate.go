package eval

import "example.com/pipe/engine/value"

// Predicate is a function that evaluates its body for each element of a list.
type Predicate struct {
	Span
	Name string
	List Node
	Body Node
}

func (n *Predicate) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.List)
	if err != nil {
		return nil, err
	}
	l, ok := v.(value.List)
	if !ok {
		return nil, faultf(n.List.Place(), "%s: want a list, got %s", n.Name, value.Describe(v))
	}
	switch n.Name {
	case "map":
		return n.mapOver(r, l)
	case "sum":
		mapped, err := n.mapOver(r, l)
		if err != nil {
			return nil, err
		}
		return sumOf(r, n.Span, mapped)
	case "filter":
		return n.filter(r, l)
	case "find":
		var found value.Value
		_, err := n.tally(r, l, func(hits, i int) bool { found = l[i]; return true })
		return found, err
	case "count":
		return n.tally(r, l, func(int, int) bool { return false })
	case "any":
		hits, err := n.tally(r, l, func(int, int) bool { return true })
		return hits > 0, err
	case "none":
		hits, err := n.tally(r, l, func(int, int) bool { return true })
		return hits == 0, err
	case "one":
		hits, err := n.tally(r, l, func(hits, _ int) bool { return hits > 1 })
		return hits == 1, err
	default: // all
		hits, err := n.tally(r, l, nil)
		return hits == int64(len(l)), err
	}
}

// tally counts the elements that the body holds for. onHit, told the count so far and the index, may stop
// it; with none, the first element that the body does not hold for stops it.
func (n *Predicate) tally(r *run, l value.List, onHit func(hits, i int) bool) (int64, error) {
	var hits int64
	err := r.each(l, n.Body, func(i int, got value.Value) (bool, error) {
		yes, ok := got.(bool)
		if !ok {
			return false, faultf(n.Body.Place(), "%s: want boolean for each element, got %s", n.Name, value.Describe(got))
		}
		if !yes {
			return onHit == nil, nil
		}
		hits++
		return onHit != nil && onHit(int(hits), i), nil
	})
	return hits, err
}

func (n *Predicate) mapOver(r *run, l value.List) (value.List, error) {
	if err := r.allocList(n.Span, len(l)); err != nil {
		return nil, err
	}
	out := make(value.List, 0, len(l))
	err := r.each(l, n.Body, func(_ int, got value.Value) (bool, error) {
		out = append(out, got)
		return false, nil
	})
	return out, err
}

func (n *Predicate) filter(r *run, l value.List) (value.Value, error) {
	if err := r.allocList(n.Span, len(l)); err != nil {
		return nil, err
	}
	out := value.List{}
	_, err := n.tally(r, l, func(_, i int) bool { out = append(out, l[i]); return false })
	return out, err
}
