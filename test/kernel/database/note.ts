import { randomUUID } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { type RecordScope, tenantTable } from '../../../src/kernel/database/entity.ts'

const scopeOf = (manager: unknown): RecordScope & { readonly now: Date } =>
  (manager as { scope: RecordScope & { readonly now: Date } }).scope

const ofTenant = {
  id: p
    .text()
    .primary()
    .onCreate(() => `note_${randomUUID()}`),
  ownerId: p
    .text()
    .primary()
    .onCreate((_, manager) => scopeOf(manager).ownerId),
  mode: p
    .text()
    .primary()
    .onCreate((_, manager) => scopeOf(manager).mode),
}

const instant = () => p.datetime().columnType('timestamptz(3)')

const noteSchema = defineEntity({
  ...tenantTable('Note', 'notes', 'authorId'),
  properties: {
    ...ofTenant,
    name: p.text(),
    description: p
      .text()
      .$type<string | null>()
      .strictNullable()
      .onCreate(() => null),
    authorId: p.text().onCreate((_, manager) => scopeOf(manager).agentId ?? 'anonymous'),
    cents: p.bigint().onCreate(() => 0n),
    labels: p
      .array()
      .columnType('text[]')
      .onCreate((): string[] => []),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
    createdAt: instant().onCreate((_, manager) => scopeOf(manager).now),
    updatedAt: instant()
      .onCreate((_, manager) => scopeOf(manager).now)
      .onUpdate((_, manager) => scopeOf(manager).now),
  },
})

export class Note extends noteSchema.class {}
noteSchema.setClass(Note)

/** A table without a tenant, as that of incoming credits: a row may be handed over to another owner. */
const handedNoteSchema = defineEntity({
  name: 'HandedNote',
  tableName: 'handed_notes',
  properties: {
    id: p.text().primary(),
    ownerId: p.text().primary(),
    mode: p.text().primary(),
    name: p.text(),
  },
})

export class HandedNote extends handedNoteSchema.class {}
handedNoteSchema.setClass(HandedNote)

export const NOTES = `
create table notes (
  id text not null, owner_id text not null, mode text not null, name text not null, description text,
  author_id text not null, cents bigint not null, labels text[] not null, metadata jsonb not null,
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null,
  primary key (owner_id, mode, id)
);
create table handed_notes (
  id text not null, owner_id text not null, mode text not null, name text not null, primary key (owner_id, mode, id)
)`
