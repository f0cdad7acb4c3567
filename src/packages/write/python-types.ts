import type { JsonSchema } from '../../derive/openapi/types.ts'
import { pascal, recordIn } from './names.ts'

const simple: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text)
const quoted = (text: string): string => JSON.stringify(text)

/** Writes JSON Schemas as types of Python: what is an object becomes a `TypedDict` with a name. */
export class PythonTypes {
  readonly #written = new Map<string, string>()

  /** All declarations so far, in the order in which they were made. */
  get text(): string {
    return [...this.#written.values()].join('\n\n')
  }

  /** Declares a type of this name. Where it is one of several, each of these has a name of its own. */
  declare(name: string, schema: JsonSchema): void {
    const isOneOf = schema.anyOf !== undefined || schema.oneOf !== undefined
    if (hasMembers(schema)) this.#object(name, schema)
    else this.alias(name, this.typeOf(schema, isOneOf ? `${name}Option` : name))
  }

  alias(name: string, type: string): void {
    this.#add(name, `${name}: TypeAlias = ${quoted(type)}`)
  }

  /** The type of a value; `name` is what an object in it is called. */
  typeOf(schema: JsonSchema, name: string): string {
    if (schema.$ref) return recordIn(schema.$ref)
    const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
    if (choices) return literalOf(choices)
    const options = schema.anyOf ?? schema.oneOf
    if (options)
      return union(options.map((option, n) => this.typeOf(option, n === 0 ? name : `${name}${n + 1}`)))
    const types = [schema.type ?? (schema.properties ? 'object' : [])].flat()
    if (types.length === 0) return 'Any'
    return union(types.map(type => this.#ofType(type, schema, name)))
  }

  #ofType(type: string, schema: JsonSchema, name: string): string {
    if (type === 'array') return `list[${schema.items ? this.typeOf(schema.items, `${name}Item`) : 'Any'}]`
    if (type === 'string' && schema.format === 'binary') return 'bytes | str'
    if (type !== 'object') return simple[type] ?? 'Any'
    if (hasMembers(schema)) return this.#object(name, schema)
    const { additionalProperties: values } = schema
    return `dict[str, ${typeof values === 'object' ? this.typeOf(values, `${name}Value`) : 'Any'}]`
  }

  #object(name: string, { properties = {}, required = [], description }: JsonSchema): string {
    // Its place is taken before those of inner objects.
    this.#add(name, '')
    const members = Object.entries(properties).map(([member, schema]): [string, string] => {
      const type = this.typeOf(schema, `${name}${pascal(member.replace(/\W/g, '_'))}`)
      return [member, required.includes(member) ? type : `NotRequired[${type}]`]
    })
    const lines = members.every(([member]) => isName(member))
      ? [
          `class ${name}(TypedDict):`,
          ...docstring(description),
          ...members.map(([member, type]) => `    ${member}: ${type}`),
        ]
      : [
          `${name} = TypedDict(`,
          `    ${quoted(name)},`,
          `    {${members.map(([member, type]) => `${quoted(member)}: ${quoted(type)}`).join(', ')}},`,
          ')',
        ]
    this.#written.set(name, lines.join('\n'))
    return name
  }

  #add(name: string, text: string): void {
    if (this.#written.has(name)) throw new Error(`Two types of Python would be called ${name}.`)
    this.#written.set(name, text)
  }
}

const hasMembers = ({ properties }: JsonSchema): boolean => Object.keys(properties ?? {}).length > 0

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

function literalOf(choices: readonly unknown[]): string {
  const values = choices
    .filter(choice => choice !== null)
    .map(choice => (typeof choice === 'boolean' ? (choice ? 'True' : 'False') : JSON.stringify(choice)))
  const literal = values.length > 0 ? [`Literal[${values.join(', ')}]`] : []
  return union(choices.includes(null) ? [...literal, 'None'] : literal)
}

/** The first sentence of a description, as a docstring that its text cannot end. */
export function docstring(text: string | undefined, indent = '    '): string[] {
  if (!text) return []
  const lines = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split('\n')
  if (lines.length === 1) return [`${indent}"""${lines[0]?.replace(/"$/, '" ')}"""`]
  return [`${indent}"""`, ...lines.map(line => (line === '' ? '' : `${indent}${line}`)), `${indent}"""`]
}
