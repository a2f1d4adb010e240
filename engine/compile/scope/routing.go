package scope

import (
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
)

// RoutingInputs is the type of what the pre_checks of a routing's contract see, as package plan lists it.
func RoutingInputs() value.Type {
	text, number := value.Of(value.String), value.Of(value.Int)
	roles := value.OneOf(plan.Work.String(), plan.Implementation.String(), plan.Review.String())
	return value.ObjectOf(
		value.FieldType{Name: plan.RoutingSourceStage, Type: text},
		value.FieldType{Name: plan.RoutingSourceRole, Type: roles},
		value.FieldType{Name: plan.RoutingTargetStage, Type: text},
		value.FieldType{Name: plan.RoutingTargetRole, Type: roles},
		value.FieldType{Name: plan.RoutingFeedbackItems, Type: value.ListOf(feedback.ItemType())},
		value.FieldType{Name: plan.RoutingTaskID, Type: text},
		value.FieldType{Name: plan.RoutingIteration, Type: number},
		value.FieldType{Name: plan.RoutingMaxIterations, Type: number},
	)
}

// RoutingOutputs is the type of what the post_checks of a routing's contract see beside that.
func RoutingOutputs() value.Type {
	text, number := value.Of(value.String), value.Of(value.Int)
	items := value.ListOf(feedback.ItemType())
	return value.ObjectOf(
		value.FieldType{Name: plan.RoutingAction, Type: value.OneOf(
			feedback.ReImplement.String(), feedback.Accept.String(), feedback.Escalate.String())},
		value.FieldType{Name: plan.RoutingIterationCount, Type: number},
		value.FieldType{Name: plan.RoutingFilteredFeedback, Type: items},
		value.FieldType{Name: plan.RoutingImplementationBrief, Type: text.OrNull()},
		value.FieldType{Name: plan.RoutingEscalationContext, Type: value.ObjectOf(
			value.FieldType{Name: "task_id", Type: text},
			value.FieldType{Name: "feedback_source", Type: text},
			value.FieldType{Name: "iterations_attempted", Type: number},
			value.FieldType{Name: "blocking_issues", Type: items},
			value.FieldType{Name: "full_history", Type: value.Of(value.ListKind)},
		).OrNull()},
	)
}
