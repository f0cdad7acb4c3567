import type { EntityClass, EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { PersonalColumn, PersonalTable } from '../../values/personal.ts'
import { columnNameOf, metadataOf } from './table.ts'

/** A property as MikroORM builds it. */
interface Property {
  readonly '~options': object
}

/** Without the methods of the builder: what is said of a column stands around all the rest. */
type Said<P extends Property> = Pick<P, keyof P & ('~options' | '~type')>

/** An option of ours: MikroORM keeps those that it does not know in its metadata. */
interface Classified {
  readonly holds?: PersonalColumn | 'plain' | 'secret'
}

const holding = <P extends Property>(property: P, holds: Classified['holds']): Said<P> => ({
  ...property,
  '~options': { ...property['~options'], holds },
})

/** A column about a person. */
export const personal = <P extends Property>(
  property: P,
  kind: PersonalColumn['kind'],
  ground: PersonalColumn['ground'],
  forget: PersonalColumn['forget'],
) => holding(property, { kind, ground, forget })

/** A column that can hold a text, and is about no person. */
export const plain = <P extends Property>(property: P) => holding(property, 'plain')

/** A column with a credential: about no person, and never exported. */
export const secret = <P extends Property>(property: P) => holding(property, 'secret')

interface TableOptions extends Pick<PersonalTable, 'about' | 'files' | 'keptWhile' | 'owner'> {
  /** Columns that only statements use, so that they are no members of the entity. */
  readonly plain?: readonly string[]
}

interface Described {
  readonly personalTable?: TableOptions
}

/** What an entity says of its table, among the options of `defineEntity`. */
export const personalTable = (options: TableOptions): Described => ({ personalTable: options })

/** The table of an entity, with what its columns hold. */
export function personalTableOf(entity: EntityClass<object>): readonly [name: string, table: PersonalTable] {
  const { tableName, properties, personalTable = {} }: EntityMetadata & Described = metadataOf(entity)
  const { plain: others = [], ...options } = personalTable
  const columns = Object.entries<EntityProperty & Classified>(properties).map(
    ([member, property]) => [columnNameOf(member, property), property.holds] as const,
  )
  const namesOf = (what: 'plain' | 'secret') =>
    columns.flatMap(([name, holds]) => (holds === what ? [name] : []))
  const personal = columns.flatMap(([name, holds]) => (typeof holds === 'object' ? [[name, holds]] : []))
  const plain = [...namesOf('plain'), ...others]
  return [tableName, { personal: Object.fromEntries(personal), plain, secret: namesOf('secret'), ...options }]
}
