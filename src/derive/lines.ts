/** No line of ours comes near it. */
const LONGEST = 4_194_304

/** The lines of a text that comes in pieces; an empty one is left out. What is no text of lines ends with `tooLong`. */
export async function* linesOf(
  content: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  tooLong = (message: string): Error => new RangeError(message),
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of content) {
    rest += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST) throw tooLong('A line is longer than 4 MiB.')
    for (const line of lines) if (line !== '') yield line
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
