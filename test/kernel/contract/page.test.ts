import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { MAX_PAGE_BYTES, PageCursors, readRecordPage } from '../../../src/kernel/contract/page.ts'
import { newId } from '../../../src/values/ids.ts'
import { anAgent } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const cursors = new PageCursors('secret')
const LIST = 'agents.list|customer_1|test||[{},{}]'

describe('a page cursor', () => {
  test('returns the id that was written into it', () => {
    const id = newId('agent')
    expect(cursors.read(LIST, cursors.write(LIST, id))).toBe(id)
  })

  test('of another list or with another secret is refused', () => {
    const cursor = cursors.write(LIST, 'agent_1')
    expect(cursors.read(LIST.replace('customer_1', 'customer_2'), cursor)).toBeUndefined()
    expect(new PageCursors('other').read(LIST, cursor)).toBeUndefined()
  })

  test('with any character altered, added or removed is refused', () => {
    const cursor = cursors.write(LIST, newId('agent'))
    const unit = fc.string({ minLength: 1, maxLength: 1, unit: 'binary' })
    fc.assert(
      fc.property(fc.nat(cursor.length), fc.nat(1), unit, (at, removed, inserted) => {
        const altered = cursor.slice(0, at) + inserted + cursor.slice(at + removed)
        fc.pre(altered !== cursor)
        expect(cursors.read(LIST, altered)).toBeUndefined()
      }),
      { numRuns: 3_000 },
    )
    for (let at = 0; at <= cursor.length; at++)
      for (const inserted of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=')
        if (cursor[at] !== inserted)
          expect(cursors.read(LIST, cursor.slice(0, at) + inserted + cursor.slice(at + 1))).toBeUndefined()
  })

  test.each(['', 'x', 'AAAAAAAAAAAAAAAAAAAAAA', 'agent_1', '='.repeat(100)])('%j is refused', text =>
    expect(cursors.read(LIST, text)).toBeUndefined(),
  )
})

describe('a page', () => {
  const sizes = fc.array(fc.oneof(fc.nat(2_000), fc.nat(3 * MAX_PAGE_BYTES)), { maxLength: 60 })

  test('a page has as many rows as fit, of any size, and all pages together have every row once', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 30 }), async (sizes, limit) => {
        const all = sizes.map((size, n) => ({ id: `${n}`, text: 'x'.repeat(size) }))
        const ids: string[] = []
        for (let after: string | undefined; ; ) {
          let read = 0
          const { rows, hasMore } = await readRecordPage<(typeof all)[number]>({
            limit,
            after,
            keyOf: ({ id }) => id,
            read: async (from, most) => {
              const start = from === undefined ? 0 : Number(from) + 1
              read += most
              return all.slice(start, start + most)
            },
          })
          const bytes = rows.reduce((sum, { text }) => sum + text.length, 0)
          expect(rows.length <= limit && (rows.length <= 1 || bytes <= MAX_PAGE_BYTES)).toBe(true)
          expect(read).toBeLessThanOrEqual(limit + 1)
          ids.push(...rows.map(({ id }) => id))
          expect(hasMore).toBe(ids.length < all.length)
          if (!hasMore) break
          after = ids.at(-1)
        }
        expect(ids).toEqual(all.map(({ id }) => id))
      }),
      { numRuns: 40 },
    )
  })
})

const service = await startTestService()

describe('a list', () => {
  test('shows each record once, newest first, while others are added', async () => {
    const owner = await service.owner()
    const before: string[] = []
    for (let count = 0; count < 23; count++) before.push((await anAgent(owner.client)).id)
    const ids: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { body } = await owner.client.agents.list({ query: { limit: 5, ...(cursor ? { cursor } : {}) } })
      ids.push(...body.data.map(({ id }) => id))
      await anAgent(owner.client)
      expect(body.hasMore).toBe(body.nextCursor !== null)
      if (!body.nextCursor) break
      cursor = body.nextCursor
    }
    expect(ids).toEqual(before.toReversed())
  })

  test('has hasMore = false on its only page', async () => {
    const owner = await service.owner()
    expect((await owner.client.agents.list()).body).toEqual({ data: [], hasMore: false, nextCursor: null })
    await anAgent(owner.client)
    const { body } = await owner.client.agents.list({ query: { limit: 1 } })
    expect([body.data.length, body.hasMore, body.nextCursor]).toEqual([1, false, null])
  })

  test('that is not in the database is paged, too', async () => {
    const { client } = await service.owner()
    const ids: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { body } = await client.policies.presets({ query: { limit: 2, ...(cursor ? { cursor } : {}) } })
      ids.push(...body.data.map(({ id }) => id))
      if (!body.nextCursor) break
      cursor = body.nextCursor
    }
    const allPresets = await client.policies.presets()
    expect(ids).toEqual(allPresets.body.data.map(({ id }) => id))
  })
})
