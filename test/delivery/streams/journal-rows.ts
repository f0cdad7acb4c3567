import pg from 'pg'
import type { Tenant } from '../../../src/kernel/contract/actor.ts'
import { newId } from '../../../src/values/ids.ts'

/** Writes an event as a process of any version does, including the previous one, which names no transaction. */
export const INSERT = `
insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
values ($1, $2, $3, $4, 'agent.frozen', '{}', 'r', now(), 'key', 'agents.freeze', 'done', 'agent_1')`

/** A transaction of another process, which a test commits when it wants. */
export interface OpenTransaction {
  add(tenant: Tenant, agentId?: string): Promise<string>
  commit(): Promise<void>
  rollback(): Promise<void>
}

export async function openTransaction(databaseUrl: string): Promise<OpenTransaction> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('begin')
  await client.query('select pg_current_xact_id()')
  const finish = async (how: 'commit' | 'rollback'): Promise<void> => {
    await client.query(how)
    await client.end()
  }
  return {
    async add({ ownerId, mode }, agentId) {
      const id = newId('event')
      await client.query(INSERT, [id, ownerId, mode, agentId ?? null])
      return id
    },
    commit: () => finish('commit'),
    rollback: () => finish('rollback'),
  }
}
