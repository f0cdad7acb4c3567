interface Style {
  readonly text: (text: string) => string
  readonly name: (name: string) => string
  readonly trailing: boolean
  readonly plain: (value: unknown) => string
  readonly space: ' ' | ''
  readonly indent: '  ' | '    '
}

const json: Style = {
  text: text => JSON.stringify(text),
  name: name => JSON.stringify(name),
  trailing: false,
  plain: String,
  space: ' ',
  indent: '  ',
}

const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const typescript: Style = {
  ...json,
  text: quoted,
  name: name => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
  trailing: true,
}

const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

const python: Style = {
  ...json,
  trailing: true,
  plain: value => words[String(value)] ?? String(value),
  space: '',
  indent: '    ',
}

export const printJson = (value: unknown): string => print(value, json, { indent: '', width: 0 })

/** Prints a value as program code; `width` is the room that remains on the first line. */
export const printTypescript = (value: unknown): string =>
  print(value, typescript, { indent: '', width: WIDTH })

export const printPython = (value: unknown): string => print(value, python, { indent: '', width: WIDTH })

const WIDTH = 60

/** Prints inner values on one line where they fit. With a width, the outermost value may fit as well. */
function print(value: unknown, style: Style, { indent, width }: { indent: string; width: number }): string {
  const short = onOneLine(value, style)
  if (typeof value !== 'object' || value === null || short.length <= Math.max(width - indent.length, 2))
    return short
  const deeper = { indent: indent + style.indent, width: WIDTH }
  const members = Array.isArray(value)
    ? value.map(item => print(item, style, deeper))
    : Object.entries(value).map(([name, member]) => named(style, name, print(member, style, deeper)))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const end = style.trailing ? ',' : ''
  return `${open}\n${members.map(member => deeper.indent + member).join(',\n')}${end}\n${indent}${close}`
}

function onOneLine(value: unknown, style: Style): string {
  if (typeof value === 'string') return style.text(value)
  if (typeof value !== 'object' || value === null) return style.plain(value)
  if (Array.isArray(value)) return `[${value.map(item => onOneLine(item, style)).join(', ')}]`
  const members = Object.entries(value).map(([name, member]) => named(style, name, onOneLine(member, style)))
  return members.length > 0 ? `{${style.space}${members.join(', ')}${style.space}}` : '{}'
}

const named = (style: Style, name: string, value: string): string => `${style.name(name)}: ${value}`
