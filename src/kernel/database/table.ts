import {
  ArrayType,
  BigIntType,
  BooleanType,
  DateTimeType,
  DateType,
  DoubleType,
  type EntityClass,
  type EntityMetadata,
  type EntityProperty,
  EntitySchema,
  IntegerType,
  JsonType,
  TextType,
  UnderscoreNamingStrategy,
} from '@mikro-orm/core'

export interface Column<Member extends string = string> {
  readonly member: Member
  readonly name: string
  readonly type: string
  /** The SQL that reads the member from a row with this alias: it is no column, and is never written. */
  readonly formula?: (alias: string) => string
}

/** A table as the hot paths see it; entities serve everything else. */
export interface Table<R extends { id: string }> {
  readonly name: string
  readonly columns: readonly Column<keyof R & string>[]
}

type Member<T> = {
  [Name in keyof T & string]: T[Name] extends (...values: never[]) => unknown ? never : Name
}[keyof T & string]

export type RowOf<T, Without extends Member<T> = never> = Pick<T, Exclude<Member<T>, Without>>

/** Read off the entity's properties, without the columns that are always null in a new row. */
export function tableOf<T extends { id: string }, Without extends Exclude<Member<T>, 'id'> = never>(
  entity: EntityClass<T>,
  without: readonly Without[] = [],
): Table<RowOf<T, Without> & { id: string }> {
  const { tableName, properties } = metadataOf(entity)
  const omitted: readonly string[] = without
  const columns = Object.entries<EntityProperty>(properties)
    .filter(([member]) => !omitted.includes(member))
    .map(([member, property]) => columnOf(`${tableName}.${member}`, member, property))
  return { name: tableName, columns: columns as Column<never>[] }
}

const naming = new UnderscoreNamingStrategy()

const types = [
  [TextType, 'text'],
  [DateTimeType, 'timestamptz'],
  [BigIntType, 'bigint'],
  [IntegerType, 'int'],
  [DoubleType, 'float8'],
  [JsonType, 'jsonb'],
  [DateType, 'date'],
  [BooleanType, 'boolean'],
  [ArrayType, 'text[]'],
] as const

export function metadataOf(entity: EntityClass<object>): EntityMetadata & { readonly tableName: string } {
  const { meta } = EntitySchema.REGISTRY.get(entity) ?? {}
  if (!meta?.tableName) throw new Error(`${entity.name} is no entity with a table.`)
  return meta
}

/** As it is declared, or as MikroORM has noted it after it has learned the entities. */
export const columnNameOf = (member: string, { fieldNames, name }: EntityProperty): string =>
  fieldNames?.[0] ?? name ?? naming.propertyToColumnName(member)

function columnOf(place: string, member: string, property: EntityProperty): Column {
  const type = typeOf(property)
  if (!type) throw new Error(`${place}: add its type to src/kernel/database/table.ts.`)
  const column = { member, name: columnNameOf(member, property), type }
  const formula: unknown = property.formula
  return typeof formula === 'function' ? { ...column, formula: alias => formula({}, { alias }) } : column
}

/** An instant has no precision here: its column rounds it. */
function typeOf({ enum: isEnum, type }: EntityProperty): string | undefined {
  if (isEnum) return 'text'
  const declared: unknown = type
  return types.find(([kind]) => declared === kind || declared instanceof kind)?.[1]
}
