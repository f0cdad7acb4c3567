import { expect } from '@jest/globals'
import type { LockedBook, PostingCause } from '../../../src/money/ledger/book.ts'
import { newId } from '../../../src/values/ids.ts'
import { type Cents, roundCents } from '../../../src/values/money.ts'
import { aWallet, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Books } from './books.ts'

export const instantAt = (text: string): Date => new Date(text)
export const newCause = () => ({ type: 'trial', id: newId('trial') })

/** An owner with two wallets opened long ago, whose ledger accepts postings at any instant since. */
interface Old extends Awaited<ReturnType<TestService['owner']>> {
  readonly id: string
  readonly other: string
  book(now: Date, work: (book: LockedBook) => void, holds?: readonly PostingCause[]): Promise<void>
  fund(cents: Cents, now: Date): Promise<void>
  draw(period?: string): ReturnType<typeof drawOf>
}

export const OPENED_AT = instantAt('2026-01-15T12:00:00Z')

const drawOf = (of: TestClient, walletId: string, period?: string) =>
  bodyOf(of.statements.create({ body: { walletId, ...(period && { period }) } }))

/** Parses CSV whose texts have no line breaks. */
export const rowsOf = (csv: Buffer): string[][] =>
  csv
    .toString()
    .trimEnd()
    .split('\r\n')
    .map(line => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)])
    .map(cells => cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''))

export const inCents = (text: string | number): Cents => roundCents(Number(text) * 100)

export function statementsIn({
  service,
  client,
  key,
  inBook,
}: Pick<Books, 'service' | 'client' | 'key' | 'inBook'>) {
  async function anOldWallet(): Promise<Old> {
    const owner = await service.owner()
    const [id, other] = [(await aWallet(owner.client)).id, (await aWallet(owner.client)).id]
    await service.sql('update wallets set created_at = $2 where owner_id = $1', [owner.ownerId, OPENED_AT])
    const stamps = 'created_at = $2, updated_at = $2'
    await service.sql(`update ledger_accounts set ${stamps} where owner_id = $1`, [owner.ownerId, OPENED_AT])
    const tenant = { ownerId: owner.ownerId, mode: 'test' } as const
    const book: Old['book'] = (now, work, holds = []) =>
      inBook({ wallets: [id, other], others: ['bank'], holds }, work, { tenant, now })
    const fund: Old['fund'] = (cents, now) =>
      book(now, opened => opened.move('fund', 'bank', id, cents, newCause()))
    return { ...owner, id, other, book, fund, draw: period => drawOf(owner.client, id, period) }
  }

  const draw = (walletId: string) => drawOf(client, walletId)

  async function read(
    { id }: { id: string },
    form: 'pdf' | 'csv' | 'camt053',
    token: string = key,
  ): Promise<Buffer> {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${service.url}/bills/${id}/${form}`, { headers })
    expect(response.status).toBe(200)
    return Buffer.from(await response.arrayBuffer())
  }

  const updates = async (id: string): Promise<string[]> =>
    (
      await service.sql<{ status: string }>(
        `select data ->> 'status' as status from events
       where event = 'bill.updated' and data ->> 'statementId' = $1 order by id`,
        [id],
      )
    ).map(({ status }) => status)

  return { anOldWallet, draw, read, updates }
}
