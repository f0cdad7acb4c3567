const WIDTH = 64

/** A value as one would write it in TypeScript: on one line where it fits. */
export function literal(value: unknown, indent = ''): string {
  const short = onOneLine(value)
  if (short.length + indent.length <= WIDTH || typeof value !== 'object' || value === null) return short
  const deeper = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = Array.isArray(value)
    ? value.map(item => literal(item, deeper))
    : Object.entries(value).map(([name, member]) => `${nameOf(name)}: ${literal(member, deeper)}`)
  return `${open}\n${members.map(member => `${deeper}${member},\n`).join('')}${indent}${close}`
}

function onOneLine(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const members = Object.entries(value).map(([name, member]) => `${nameOf(name)}: ${onOneLine(member)}`)
  return members.length > 0 ? `{ ${members.join(', ')} }` : '{}'
}

const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))
