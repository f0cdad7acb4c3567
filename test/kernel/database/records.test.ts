import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { areas } from '../../../src/areas.ts'
import { ProtectRule } from '../../../src/commerce/mpp/protect-rule.ts'
import { Agent } from '../../../src/control/agents/agent.ts'
import type { Condition } from '../../../src/kernel/contract/records.ts'
import { sqlCondition } from '../../../src/kernel/contract/records.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { RecordStore } from '../../../src/kernel/database/record-store.ts'
import { Wallet } from '../../../src/money/wallets/wallet.ts'
import { startEngine } from '../../support/engine.ts'

const engine = await startEngine(areas)
const { pool } = engine.runtime.database

interface Sent {
  readonly text: string
  readonly values: readonly unknown[]
}

/** A store for one owner that also says what it sends. */
function openStore({ ownerId = 'customer_records', readOnly = false } = {}) {
  const sent: Sent[] = []
  const sql = sqlOn(pool)
  const store = new RecordStore(
    (text, values = []) => {
      sent.push({ text, values })
      return sql(text, values)
    },
    { readOnly },
  )
  store.scope = { ownerId, mode: 'test', agentId: null, delegationId: null, now: new Date(0) }
  return { store, sent }
}

/** An agent with its wallet, which must be there before it: these stores have no transaction around them. */
async function createAgent(
  members: { name: string; description?: string | null },
  ownerId?: string,
): Promise<Agent> {
  const { store } = openStore(ownerId ? { ownerId } : {})
  const { id: walletId } = store.create(Wallet, { name: 'W', metadata: {} })
  await store.flush()
  const agent = store.create(Agent, { ...members, walletId, metadata: {} })
  await store.flush()
  return agent
}

describe('a record that is created', () => {
  test('has its id, its tenant and its defaults at once', () => {
    const agent = openStore().store.create(Agent, { name: 'A', metadata: {} })
    expect(agent).toMatchObject({
      ownerId: 'customer_records',
      mode: 'test',
      status: 'active',
      externalId: null,
    })
    expect(agent.id).toMatch(/^agent_/)
    expect(agent.createdAt).toEqual(new Date(0))
  })

  test('is found as the same object before it is written', async () => {
    const { store, sent } = openStore()
    const agent = store.create(Agent, { name: 'A', metadata: {} })
    expect(await store.findOne(Agent, { id: agent.id })).toBe(agent)
    expect(sent).toEqual([])
  })

  test('is not written if it is removed before', async () => {
    const { store, sent } = openStore()
    store.remove(store.create(Agent, { name: 'A', metadata: {} }))
    await store.flush()
    expect(sent).toEqual([])
  })

  test('throws where nothing may be written', () => {
    const { store } = openStore({ readOnly: true })
    expect(() => store.create(Agent, { name: 'A', metadata: {} })).toThrow('a read creates no records')
  })
})

describe('a record that is found', () => {
  test('is one object however often it is found', async () => {
    const { id } = await createAgent({ name: 'Twice' })
    const { store } = openStore()
    const agent = await store.findOne(Agent, { name: 'Twice' })
    expect(await store.findOne(Agent, { id })).toBe(agent)
    expect(await store.lock(Agent, id)).toBe(agent)
    expect((await store.find(Agent, { name: 'Twice' }))[0]).toBe(agent)
  })

  test('has the row of now once it is locked', async () => {
    const { id } = await createAgent({ name: 'Before' })
    const { store } = openStore()
    const agent = await store.findOneOrFail(Agent, { id })
    await pool.query(`update agents set name = 'After' where id = $1`, [id])
    expect((await store.findOneOrFail(Agent, { id })).name).toBe('Before')
    await store.lock(Agent, id)
    expect(agent.name).toBe('After')
  })

  test('is not locked twice, and keeps its changes', async () => {
    const { id } = await createAgent({ name: 'Held' })
    const { store, sent } = openStore()
    const agent = (await store.lock(Agent, id)) as Agent
    agent.name = 'Changed'
    expect(await store.lock(Agent, id)).toBe(agent)
    expect(sent).toHaveLength(1)
    expect(await store.find(Agent, { id }, { lock: true })).toEqual([agent])
    const { id: walletId } = store.create(Wallet, { name: 'New', metadata: {} })
    expect(await store.lock(Wallet, walletId)).toMatchObject({ name: 'New' })
    expect([agent.name, sent.length]).toEqual(['Changed', 2])
  })

  test('is not read without a tenant, and not found by another one', async () => {
    const { id } = await createAgent({ name: 'Own' })
    const { store } = openStore({ ownerId: 'customer_other' })
    expect(await store.findOne(Agent, { id })).toBeNull()
    expect(await store.count(Agent, { id })).toBe(0)
    store.scope = undefined
    await expect(store.findOne(Agent, { id })).rejects.toThrow('agents is read for no tenant')
  })

  test('is not taken for the record of another owner that has the same id', async () => {
    const { store } = openStore()
    const own = store.create(Wallet, { name: 'Own', metadata: {} })
    store.scope = openStore({ ownerId: 'customer_other' }).store.scope
    expect(await store.findOne(Wallet, { id: own.id })).toBeNull()
    const other = store.create(Wallet, { id: own.id, name: 'Other', metadata: {} })
    expect(await store.findOne(Wallet, { id: own.id })).toBe(other)
  })
})

describe('a flush', () => {
  test('sends nothing where nothing has changed', async () => {
    const { id } = await createAgent({ name: 'Same' })
    const { store, sent } = openStore()
    const agent = await store.findOneOrFail(Agent, { id })
    agent.name = 'Other'
    agent.name = 'Same'
    await store.flush()
    expect(sent).toHaveLength(1)
  })

  test('writes the members that have changed, and when', async () => {
    const { id } = await createAgent({ name: 'Changed' })
    const { store, sent } = openStore()
    if (store.scope) store.scope = { ...store.scope, now: new Date(5_000) }
    const agent = await store.findOneOrFail(Agent, { id })
    agent.name = 'Renamed'
    await store.flush()
    expect(sent[1]?.text).toMatch(/^update agents set (updated_at|name) = \$4, (updated_at|name) = \$5 where/)
    expect(agent.updatedAt).toEqual(new Date(5_000))
    await store.flush()
    expect(sent).toHaveLength(2)
    expect(await openStore().store.findOne(Agent, { id })).toMatchObject({
      name: 'Renamed',
      updatedAt: new Date(5_000),
    })
  })

  test('writes an object that was changed in place', async () => {
    const { id } = await createAgent({ name: 'Metadata' })
    const { store } = openStore()
    const agent = await store.findOneOrFail(Agent, { id })
    agent.metadata.colour = 'green'
    await store.flush()
    expect(await openStore().store.findOne(Agent, { id })).toMatchObject({ metadata: { colour: 'green' } })
  })

  test('writes many records of a kind in one statement', async () => {
    const { store, sent } = openStore({ ownerId: 'customer_many' })
    for (const name of ['a', 'b', 'c']) store.create(Wallet, { name, metadata: {} })
    await store.flush()
    expect(sent).toHaveLength(1)
    expect(await store.count(Wallet)).toBe(3)
  })

  test('deletes what was removed', async () => {
    const { store } = openStore({ ownerId: 'customer_removing' })
    const rule = store.create(ProtectRule, { type: 'deny', merchant: 'example.com', pattern: 'example.com' })
    await store.flush()
    store.remove(rule)
    await store.flush()
    expect(await store.findOne(ProtectRule, { id: rule.id })).toBeNull()
    expect(() => store.remove(rule)).toThrow('only a record that this transaction has read')
  })
})

describe('a condition', () => {
  const names = ['anna', 'Bert', "o'hara", '%', '']
  const descriptions = ['x', 'y', null]
  const name = fc.constantFrom(...names)
  const leaf = fc.oneof(
    name.map(wanted => ({ name: wanted })),
    name.map(wanted => ({ name: { $ne: wanted } })),
    fc.subarray(names).map(wanted => ({ name: { $in: wanted } })),
    fc.constantFrom(...descriptions).map(wanted => ({ description: wanted })),
    fc.constant({ description: { $ne: null } }),
    name.map(wanted => sqlCondition('lower(name) = lower(?)', [wanted])),
  )
  const { condition } = fc.letrec<{ condition: object }>(tie => ({
    condition: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('condition'), { maxLength: 3 }).map($and => ({ $and })),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map($or => ({ $or })),
    ),
  }))

  /** The same in JavaScript. */
  function isMet(wanted: object, agent: Agent): boolean {
    return Object.entries(wanted).every(([key, value]) => {
      if (key === '$and') return value.every((part: object) => isMet(part, agent))
      if (key === '$or') return value.some((part: object) => isMet(part, agent))
      if (key.startsWith('(')) return agent.name.toLowerCase() === value[0].toLowerCase()
      const member = agent[key as 'name' | 'description']
      if (value === null || typeof value !== 'object') return member === value
      if ('$in' in value) return value.$in.includes(member)
      return member !== value.$ne
    })
  }

  test('finds the records that JavaScript would, by a text without a value', async () => {
    const ownerId = 'customer_conditions'
    const { store } = openStore({ ownerId })
    for (const [index, agentName] of names.entries())
      await createAgent({ name: agentName, description: descriptions[index % 3] ?? null }, ownerId)
    const agents = await store.find(Agent, {})
    await fc.assert(
      fc.asyncProperty(condition, async wanted => {
        const reading = openStore({ ownerId, readOnly: true })
        const found = await reading.store.find(Agent, wanted as Condition<Agent>, { orderBy: { id: 'asc' } })
        const expected = agents.filter(agent => isMet(wanted, agent))
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id).toSorted())
        expect(reading.sent[0]?.text).not.toMatch(/anna|Bert|hara|'x'/)
      }),
      { numRuns: 100 },
    )
  })

  test('throws for what is no column, is unknown or undefined', async () => {
    const { store } = openStore()
    const find = (wanted: object) => store.find(Agent, wanted as Condition<Agent>)
    await expect(find({ colour: 1 })).rejects.toThrow('names colour, which is no column')
    await expect(find({ name: { $regex: 'a' } })).rejects.toThrow('the unknown operator $regex')
    await expect(find({ name: undefined })).rejects.toThrow('a condition on name is undefined')
  })
})
