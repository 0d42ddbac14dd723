package chattemplate

import "strings"

// dunders are the underscore attributes of Python's builtin types. The sandbox hides them, which differs from their
// absence: an attribute of a hidden one raises SecurityError.
var dunders = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`
__abs__ __add__ __and__ __annotations__ __bool__ __builtins__ __call__ __ceil__ __class__ __class_getitem__
__closure__ __code__ __contains__ __defaults__ __del__ __delattr__ __delitem__ __dict__ __dir__ __divmod__ __doc__
__eq__ __float__ __floor__ __floordiv__ __format__ __ge__ __get__ __getattribute__ __getformat__ __getitem__
__getnewargs__ __getstate__ __globals__ __gt__ __hash__ __html__ __html_format__ __iadd__ __imul__ __index__ __init__
__init_subclass__ __int__ __invert__ __ior__ __iter__ __kwdefaults__ __le__ __len__ __lshift__ __lt__ __mod__
__module__ __mul__ __name__ __ne__ __neg__ __new__ __next__ __or__ __pos__ __pow__ __qualname__ __radd__ __rand__
__rdivmod__ __reduce__ __reduce_ex__ __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__
__round__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __self__ __setattr__ __setitem__ __sizeof__
__slots__ __str__ __sub__ __subclasshook__ __text_signature__ __truediv__ __trunc__ __xor__
`) {
		set[name] = true
	}
	return set
}()
