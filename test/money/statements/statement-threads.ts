import { describe, expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { processorTimeOfService } from '../../support/longest-turn.ts'
import { startBooks } from '../../support/money/books.ts'
import { instantAt, newCause, statementsIn } from '../../support/money/statements.ts'

const { service, client, key, inBook } = await startBooks()
const { anOldWallet, read } = statementsIn({ service, client, key, inBook })

async function aLongStatement(movements = 600) {
  const old = await anOldWallet()
  await old.book(instantAt('2026-02-02T00:00:00Z'), book => {
    for (let n = 0; n < movements; n++) book.move('fund', 'bank', old.id, cents(1n), newCause())
  })
  return { ...old, statement: await old.draw('2026-02') }
}

describe('generating PDF documents', () => {
  test('does not block the event loop for other owners', async () => {
    const long = await Promise.all([aLongStatement(), aLongStatement(), aLongStatement()])
    const answered: string[] = []
    const draw = () =>
      Promise.all(
        long.map(({ statement, key }) => read(statement, 'pdf', key).then(() => answered.push('document'))),
      )
    const write = () =>
      times(10, async n => {
        await bodyOf(client.wallets.create({ body: { name: `Beside ${n}` } }))
        answered.push('write')
      })
    const time = await processorTimeOfService(() => Promise.all([draw(), write()]))
    expect(answered.lastIndexOf('write')).toBeLessThan(answered.lastIndexOf('document'))
    // The thread of the service only reads movements and sends bytes; the others do the layout.
    expect(time.thread).toBeLessThan(time.process / 2)
    expect(time.longest).toBeLessThan(time.process / 10)
  })

  test('runs one document of an owner at a time, and completes all', async () => {
    const { statement, key } = await aLongStatement(60)
    const documents = await times(5, () => read(statement, 'pdf', key))
    expect(documents.map(({ length }) => length)).toEqual(Array(5).fill(documents[0]?.length))
  })

  test('stops when the reader hangs up, and the owner’s next document starts', async () => {
    const { statement, key } = await aLongStatement()
    const leaving = new AbortController()
    const response = await fetch(`${service.url}/statements/${statement.id}/pdf`, {
      headers: { authorization: `Bearer ${key}` },
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    expect((await read(statement, 'pdf', key)).subarray(-6).toString()).toBe('%%EOF\n')
  })

  test('is refused if too many of the owner’s documents are waiting', async () => {
    const { statement, key } = await aLongStatement(60)
    const answers = await times(30, () =>
      service.http('GET', `/statements/${statement.id}/pdf`, { token: key }),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers, body } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([429, '5'])
      expect(body.error).toMatch(/^10 of your requests are already waiting/)
    }
  })
})
