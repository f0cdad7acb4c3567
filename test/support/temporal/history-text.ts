/** All texts of a history, recorded or fetched, with its payloads decoded. */
export function textOf(history: unknown): string {
  const texts: string[] = []
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString())
    else if (typeof value === 'string') texts.push(value, Buffer.from(value, 'base64').toString())
    else if (value && typeof value === 'object') Object.values(value).forEach(collect)
  }
  collect(history)
  return texts.join('\n')
}
