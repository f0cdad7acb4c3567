import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { SepaMessage } from '../../../src/commerce/rails/message.ts'
import { SepaFile } from '../../../src/commerce/rails/sepa-file.ts'
import { Agent } from '../../../src/control/agents/agent.ts'
import { bind, type RecordScope } from '../../../src/kernel/database/entity.ts'
import { Wallet } from '../../../src/money/wallets/wallet.ts'
import { startEngine } from '../../support/engine.ts'
import { anAgent } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const engine = await startEngine(areas)
const runtime = await startTestService()

const entities = Object.entries(areas).flatMap(([name, { entities }]) =>
  entities.map(entity => [name, entity] as const),
)
/** All but those that the operator alone reads: of every owner, and of nobody who is known yet. */
const ofTenants = entities.filter(
  ([name, entity]) =>
    !['customers', 'incoming'].includes(name) && ![SepaFile, SepaMessage].some(one => one === entity),
)
const fork = () => engine.runtime.database.fork()

describe.each(ofTenants)('a query of %s', (_, entity) => {
  test('that nobody has bound to a tenant throws', async () => {
    await expect(fork().find(entity, {})).rejects.toThrow(/tenant/)
    await expect(fork().findOne(entity, { id: 'x' } as object)).rejects.toThrow(/tenant/)
    await expect(fork().count(entity, {})).rejects.toThrow(/tenant/)
    await expect(fork().nativeDelete(entity, {})).rejects.toThrow(/tenant/)
    await expect(fork().nativeUpdate(entity, {}, {})).rejects.toThrow(/tenant/)
  })
})

describe('what is bound to a tenant', () => {
  const scope: RecordScope = {
    ownerId: 'customer_1',
    mode: 'test',
    agentId: null,
    delegationId: null,
    now: new Date(0),
  }
  const bound = (other: Partial<RecordScope> = {}) => {
    const em = fork()
    bind(em, { ...scope, ...other })
    return em
  }

  test('is seen by that owner in that mode, and by that agent', async () => {
    const em = bound()
    const agent = em.create(Agent, { name: 'A', metadata: {} })
    em.create(Wallet, { id: agent.walletId, name: 'A', metadata: {} })
    await em.flush()
    const { id } = agent
    const seen = async (other: Partial<RecordScope>) => (await bound(other).findOne(Agent, { id })) !== null
    expect(await seen({})).toBe(true)
    expect(await seen({ agentId: id })).toBe(true)
    expect(await seen({ ownerId: 'customer_2' })).toBe(false)
    expect(await seen({ mode: 'live' })).toBe(false)
    expect(await seen({ agentId: 'agent_other' })).toBe(false)
    expect(await bound({ ownerId: 'customer_2' }).nativeDelete(Agent, { id })).toBe(0)
    expect(await bound({ ownerId: 'customer_2' }).count(Agent)).toBe(0)
  })
})

describe('what has happened', () => {
  const everything = ['update * set owner_id = owner_id', 'delete from *', 'truncate *', 'truncate * cascade']

  /** Deliveries point to events: that refuses the third of these before its turn comes. */
  const refusal = /append-only|referenced in a foreign key/

  test.each([
    ['events', everything],
    ['audit_entries', everything],
    ['policy_versions', everything.slice(0, 2)],
  ])('stays as it is: %s', async (table, statements) => {
    const owner = await runtime.owner()
    await anAgent(owner.client)
    await owner.client.policies.create({ body: { name: 'P' } })
    const count = async () => (await runtime.sql(`select count(*)::int as rows from ${table}`))[0]?.rows
    const before = await count()
    expect(before).toBeGreaterThan(0)
    for (const statement of statements)
      await expect(runtime.sql(statement.replace('*', table))).rejects.toThrow(refusal)
    expect(await count()).toBe(before)
  })
})
