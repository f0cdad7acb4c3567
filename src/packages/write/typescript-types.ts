import type { JsonSchema } from '../../derive/openapi/types.ts'
import { isName, recordIn } from './names.ts'

const simple: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** A JSON Schema as a type of TypeScript. */
export function typeOf(schema: JsonSchema, indent = ''): string {
  if (schema.$ref) return recordIn(schema.$ref)
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (choices) return union(choices.map(choice => JSON.stringify(choice)))
  const options = schema.anyOf ?? schema.oneOf
  if (options) return union(options.map(option => typeOf(option, indent)))
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return schema.properties ? objectType(schema, indent) : 'unknown'
  return union(types.map(type => ofType(type, schema, indent)))
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never'

function ofType(type: string, schema: JsonSchema, indent: string): string {
  if (type === 'object') return objectType(schema, indent)
  if (type === 'array') return `Array<${schema.items ? typeOf(schema.items, indent) : 'unknown'}>`
  if (type === 'string' && schema.format === 'binary') return 'Blob | string'
  return simple[type] ?? 'unknown'
}

function objectType({ properties, required = [], additionalProperties }: JsonSchema, indent: string): string {
  if (!properties || Object.keys(properties).length === 0) {
    if (typeof additionalProperties === 'object')
      return `Record<string, ${typeOf(additionalProperties, indent)}>`
    return additionalProperties === false ? 'Record<string, never>' : 'Record<string, unknown>'
  }
  const members = Object.entries(properties).flatMap(([name, member]) => [
    ...comment(member.description, `${indent}  `),
    `${indent}  ${isName(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(member, `${indent}  `)}`,
  ])
  return `{\n${members.join('\n')}\n${indent}}`
}

/** A comment of documentation, which its text cannot end. */
export function comment(text: string | undefined, indent: string): string[] {
  if (!text) return []
  const lines = text.replaceAll('*/', '*\u200b/').split('\n')
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`]
  return [`${indent}/**`, ...lines.map(line => `${indent} * ${line}`.trimEnd()), `${indent} */`]
}
