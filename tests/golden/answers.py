"""Answers to GraphQL requests against their recording."""
import collections
import datetime
import math

# The corpus ends in October 2026; a later instant in a recorded answer is the moment of recording ("now").
CORPUS_END = "2026-11-01"
NOW_TOLERANCE = datetime.timedelta(minutes=10)


def _is_now(text):
    try:
        instant = datetime.datetime.fromisoformat(text[:19] + "+00:00")
    except ValueError:
        return False
    return abs(datetime.datetime.now(datetime.timezone.utc) - instant) < NOW_TOLERANCE


def _recorded_now(value):
    return isinstance(value, str) and CORPUS_END <= value[:10] < "2027" and value[10:11] == "T"


def difference(wanted, given, path="data"):
    """The first place where two answers differ, or None. Member order counts; numbers agree to 1e-9."""
    if isinstance(wanted, dict) and isinstance(given, dict):
        if list(wanted) != list(given):
            return f"{path}: members {list(wanted)} recorded, {list(given)} given"
        return next((found for name in wanted if (found := difference(wanted[name], given[name], f"{path}.{name}"))), None)
    if isinstance(wanted, list) and isinstance(given, list):
        if len(wanted) != len(given):
            return f"{path}: {len(wanted)} items recorded, {len(given)} given"
        return next((found for i, pair in enumerate(zip(wanted, given)) if (found := difference(*pair, f"{path}[{i}]"))), None)
    if _recorded_now(wanted):
        same = isinstance(given, str) and _is_now(given)
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        same = isinstance(given, (int, float)) and not isinstance(given, bool) and math.isclose(wanted, given, rel_tol=1e-9, abs_tol=1e-9)
    else:
        same = type(wanted) is type(given) and wanted == given
    return None if same else f"{path}: {str(wanted)[:100]!r} recorded, {str(given)[:100]!r} given"


def _errors(answer):
    return collections.Counter(
        (tuple(error.get("path") or ()), (error.get("extensions") or {}).get("code", "")) for error in answer.get("errors") or [])


def error_difference(wanted, given):
    """Errors agree when paths and codes do, however ordered; their texts are free, and so is a code where none was recorded."""
    left = _errors(given)
    missing = []
    for (path, code), count in sorted(_errors(wanted).items(), key=repr):
        for _ in range(count):
            match = next((each for each in left if left[each] and each[0] == path and code in ("", each[1])), None)
            if match:
                left[match] -= 1
            else:
                missing.append((path, code))
    extra = sorted(left.elements(), key=repr)
    return f"errors: recorded and not given {missing[:3]}, given and not recorded {extra[:3]}" if missing or extra else None


def compare(request, status, answer):
    """The problem with an answer, or None."""
    wanted = request["response"]
    if status != request["status"]:
        return f"status {request['status']} recorded, {status} given: {str(answer)[:200]}"
    return difference(wanted.get("data"), answer.get("data")) or error_difference(wanted, answer)
