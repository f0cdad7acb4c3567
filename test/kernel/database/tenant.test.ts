import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { SepaMessage } from '../../../src/commerce/rails/message.ts'
import { SepaFile } from '../../../src/commerce/rails/sepa-file.ts'
import { Agent } from '../../../src/control/agents/agent.ts'
import type { RecordScope } from '../../../src/kernel/database/entity.ts'
import { openEntityManager } from '../../../src/kernel/database/orm.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { Wallet } from '../../../src/money/wallets/wallet.ts'
import { startEngine } from '../../support/engine.ts'
import { anAgent } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const engine = await startEngine(areas)
const service = await startTestService()

const entities = Object.entries(areas).flatMap(([name, { entities }]) =>
  entities.map(entity => [name, entity] as const),
)
/** The entities of tenants: all but those that only the operator reads. */
const tenantEntities = entities.filter(
  ([name, entity]) =>
    !['customers', 'incoming'].includes(name) &&
    ![SepaFile, SepaMessage].some(operatorEntity => operatorEntity === entity),
)
const openManager = () => openEntityManager(sqlOn(engine.runtime.database.pool))

describe.each(tenantEntities)('a query of %s', (_, entity) => {
  test('throws unless a tenant is bound', async () => {
    await expect(openManager().find(entity, {})).rejects.toThrow(/tenant/)
    await expect(openManager().findOne(entity, {})).rejects.toThrow(/tenant/)
    await expect(openManager().count(entity, {})).rejects.toThrow(/tenant/)
  })
})

describe('a record of a tenant', () => {
  const scope: RecordScope = {
    ownerId: 'customer_1',
    mode: 'test',
    agentId: null,
    delegationId: null,
    now: new Date(0),
  }
  const bound = (other: Partial<RecordScope> = {}) => {
    const em = openManager()
    em.scope = { ...scope, ...other }
    return em
  }

  test('is visible to its owner in its mode, and to its agent', async () => {
    const em = bound()
    const { id: walletId } = em.create(Wallet, { name: 'A', metadata: {} })
    await em.flush()
    const agent = em.create(Agent, { name: 'A', walletId, metadata: {} })
    await em.flush()
    const { id } = agent
    const isVisible = async (other: Partial<RecordScope>) =>
      (await bound(other).findOne(Agent, { id })) !== null
    expect(await isVisible({})).toBe(true)
    expect(await isVisible({ agentId: id })).toBe(true)
    expect(await isVisible({ ownerId: 'customer_2' })).toBe(false)
    expect(await isVisible({ mode: 'live' })).toBe(false)
    expect(await isVisible({ agentId: 'agent_other' })).toBe(false)
    expect(await bound({ ownerId: 'customer_2' }).count(Agent)).toBe(0)
  })
})

describe('an append-only table', () => {
  const changes = ['update * set owner_id = owner_id', 'delete from *', 'truncate *', 'truncate * cascade']

  /** `truncate events` fails on the foreign key of deliveries before it reaches the trigger. */
  const refusal = /append-only|referenced in a foreign key/

  test.each([
    ['events', changes],
    ['policy_versions', changes.slice(0, 2)],
  ])('refuses every change: %s', async (table, statements) => {
    const owner = await service.owner()
    await anAgent(owner.client)
    await owner.client.policies.create({ body: { name: 'P' } })
    const count = async () => (await service.sql(`select count(*)::int as rows from ${table}`))[0]?.rows
    const before = await count()
    expect(before).toBeGreaterThan(0)
    for (const statement of statements)
      await expect(service.sql(statement.replace('*', table))).rejects.toThrow(refusal)
    expect(await count()).toBe(before)
  })
})
