import { randomUUID } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'

/** The owner, the author and the time, which the filter and the defaults of the entities read. */
export interface Scope {
  readonly ownerId: string
  readonly mode: string
  readonly authorId: string | null
  readonly now: Date
}

/** MikroORM types it as its entity manager. */
const scopeOf = (store: unknown): Scope => (store as { scope: Scope }).scope

const reach = ({ ownerId, mode, authorId }: Scope) => ({ ownerId, mode, ...(authorId ? { authorId } : {}) })

const tenantFilter = { tenant: { name: 'tenant', default: true, cond: reach } }

const ofTenant = {
  id: p
    .text()
    .primary()
    .onCreate(() => `note_${randomUUID()}`),
  ownerId: p
    .text()
    .primary()
    .onCreate((_, store) => scopeOf(store).ownerId),
  mode: p
    .text()
    .primary()
    .onCreate((_, store) => scopeOf(store).mode),
}

const instant = () => p.datetime().columnType('timestamptz(3)')

const noteSchema = defineEntity({
  name: 'Note',
  tableName: 'notes',
  filters: tenantFilter,
  properties: {
    ...ofTenant,
    name: p.text(),
    description: p
      .text()
      .$type<string | null>()
      .strictNullable()
      .onCreate(() => null),
    authorId: p.text().onCreate((_, store) => scopeOf(store).authorId ?? 'anonymous'),
    cents: p.bigint().onCreate(() => 0n),
    labels: p
      .array()
      .columnType('text[]')
      .onCreate((): string[] => []),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
    createdAt: instant().onCreate((_, store) => scopeOf(store).now),
    updatedAt: instant()
      .onCreate((_, store) => scopeOf(store).now)
      .onUpdate((_, store) => scopeOf(store).now),
  },
})

export class Note extends noteSchema.class {}
noteSchema.setClass(Note)

export const NOTES = `
create table notes (
  id text not null, owner_id text not null, mode text not null, name text not null, description text,
  author_id text not null, cents bigint not null, labels text[] not null, metadata jsonb not null,
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null,
  primary key (owner_id, mode, id)
)`
