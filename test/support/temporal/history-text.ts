/** All that a history holds, payloads in plain text: of one that was recorded, or of one that a server has given. */
export function textOf(history: unknown): string {
  const found: string[] = []
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) found.push(Buffer.from(value).toString())
    else if (typeof value === 'string') found.push(value, Buffer.from(value, 'base64').toString())
    else if (value && typeof value === 'object') Object.values(value).forEach(collect)
  }
  collect(history)
  return found.join('\n')
}
