// Package toolcall takes generated text apart, while it comes, into what the model says and the tools it calls.
//
// Each family of models writes its calls in a format of its own; formats.go lists them. A Parser reads one answer and
// keeps three promises for every format:
//
//   - How the text is cut changes only how events are cut: the concatenated stream equals the whole answer, because the
//     whole answer is the stream of one Add and a Flush.
//   - A call is announced as soon as its name is certain and its arguments have begun. Until then its text is held, and
//     if it turns out to be no call it comes out as content, to the last byte. From then on whatever the model writes
//     as arguments is passed on, also if the model makes a mess of it or is cut off: the parser closes nothing in the
//     model's name.
//   - Nothing is lost but the format's own markers, whole or cut off with the answer, white space and comments between a
//     call's parts, and text around calls that is nothing but white space.
package toolcall
