import { constraintWords, typeWords } from '../docs/schema-words.ts'
import { resolve } from '../openapi/example.ts'
import type { JsonSchema, Schemas } from '../openapi/types.ts'
import type { Member, Shape } from './table.ts'

/** The members of an object, those of inner objects inside. */
export function membersOf(schema: JsonSchema, schemas: Schemas): Member[] {
  const options = optionsOf(schema, schemas)
  const members = new Map<string, Member>()
  for (const { properties = {}, required = [] } of options)
    for (const [name, member] of Object.entries(properties)) {
      const isRequired = options.length === 1 && required.includes(name)
      if (!members.has(name))
        members.set(name, { name, ...(isRequired ? { required: true } : {}), ...shapeOf(member, schemas) })
    }
  return [...members.values()]
}

export function shapeOf(schema: JsonSchema, schemas: Schemas): Shape {
  const options = optionsOf(schema, schemas)
  const [target = {}] = options
  const members = membersOf(schema, schemas)
  const { items: _, ...own } = target
  const limits = options.length === 1 ? constraintWords(own) : []
  const description = schema.description ?? target.description
  const example = target.examples?.[0]
  const choices = choicesOf(options)
  const items = options.find(option => option.items)?.items
  const values = options.find(({ additionalProperties }) => typeof additionalProperties === 'object')
  return {
    types: typesOf(options),
    words: [...new Set(options.map(typeWords))].join(' or '),
    ...(limits.length > 0 ? { limits } : {}),
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example }),
    ...(choices === undefined ? {} : { choices }),
    ...(members.length > 0 ? { members } : {}),
    ...(items ? { items: shapeOf(items, schemas) } : {}),
    ...(values ? { values: shapeOf(values.additionalProperties as JsonSchema, schemas) } : {}),
  }
}

/** The schema itself, or each of those that it lets one choose from, with references followed. */
function optionsOf(schema: JsonSchema, schemas: Schemas): JsonSchema[] {
  if (schema.$ref) return optionsOf(resolve(schema.$ref, schemas), schemas)
  const options = schema.anyOf ?? schema.oneOf
  return options ? options.flatMap(option => optionsOf(option, schemas)) : [schema]
}

/** Empty where one of them says nothing of its type: then it may be anything. */
function typesOf(options: readonly JsonSchema[]): string[] {
  const types = options.map(option => [option.type ?? typeOfConst(option)].flat().filter(Boolean) as string[])
  return types.some(list => list.length === 0) ? [] : [...new Set(types.flat())]
}

function typeOfConst({ const: only, enum: [first] = [], properties }: JsonSchema): string {
  const value = only ?? first
  if (value === undefined) return properties ? 'object' : ''
  return value === null ? 'null' : typeof value
}

/** Only where every option is a choice. */
function choicesOf(options: readonly JsonSchema[]): readonly unknown[] | undefined {
  const choices = options.map(({ enum: values, const: only }) => values ?? (only === undefined ? [] : [only]))
  return choices.some(list => list.length === 0) ? undefined : choices.flat()
}
