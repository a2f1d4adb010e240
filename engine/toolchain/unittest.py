
import re, sys, unittest
from xml.sax.saxutils import escape, quoteattr

report, start = sys.argv[1:]
passed = []

class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        super().addSuccess(test)
        passed.append(test)

def clean(text):
    return re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)

def attribute(text):
    return quoteattr(clean(text))

def named(test):
    module, _, name = test.id().rpartition(".")
    return "name=" + attribute(name or test.id()) + " classname=" + attribute(module)

def message(text):
    last = text.rpartition("Traceback (most recent call last):")[2]
    for line in last.splitlines():
        if line.strip() and not line.startswith(" "):
            return line
    return text.strip()

suite = unittest.defaultTestLoader.discover(start)
result = unittest.TextTestRunner(resultclass=Result).run(suite)
failed = result.failures + result.errors + [(t, "it was expected to fail, and passed") for t in result.unexpectedSuccesses]
skipped = result.skipped + result.expectedFailures
with open(report, "w", encoding="utf-8") as out:
    out.write("<testsuites>\n")
    for test in passed:
        out.write("<testcase " + named(test) + "/>\n")
    for test, text in skipped:
        out.write("<testcase " + named(test) + "><skipped/></testcase>\n")
    for test, text in failed:
        out.write("<testcase " + named(test) + "><failure message=" + attribute(message(text)) + ">" + escape(clean(text)) + "</failure></testcase>\n")
    out.write("</testsuites>\n")
if not (passed or failed or skipped):
    sys.exit(5)
sys.exit(0 if result.wasSuccessful() else 1)
