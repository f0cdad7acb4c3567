import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { sepaNoticesIn } from '../../support/commerce/sepa-notices.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { bookingOf, camt, returnedBooking } from '../../support/money/camt.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const service = await startTestService()
const { dash } = service
const { client } = await service.owner()
const { get, wallet, giveBack, proveLedger } = sepaNoticesIn(client)

const payee = { name: 'Adler GmbH', iban: 'DE89370400440532013000' }

const aLostReference = (): string => newId('transfer').replace('transfer_', '')

const read = (xml: string) =>
  dash.rails.read({ body: { content: Buffer.from(xml).toString('base64'), mode: 'test' } })

const assign = (id: string, endToEndId: string, walletId: string) =>
  dash.rails.assign({ params: { id }, body: { endToEndId, walletId, payee } })

async function aLostDebit() {
  const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
  const { id } = await bodyOf(read(camt([bookingOf(lost, '10.00')])))
  return { id, lost, walletId, returned: camt([returnedBooking(lost, '10.00')]) }
}

const whileLocked = <T>(lock: string, work: (release: () => Promise<unknown>) => Promise<T>): Promise<T> =>
  withConnection(service.databaseUrl, async holder => {
    await holder.query('begin')
    await holder.query(lock)
    return work(() => holder.query('commit'))
  })

const DEBITS_LOCK = `hashtextextended('bank_debits', 0)`

/** Waits until a request holds or awaits the lock between files and assignments. */
const untilLock = (what: string, mode: 'ShareLock' | 'ExclusiveLock', granted: boolean) =>
  until(what, async () => {
    const rows = await service.sql(
      `select from pg_locks join pg_database d on d.oid = database
       where datname = current_database() and locktype = 'advisory' and mode = $1 and granted = $2
         and (classid::bigint << 32 | objid::bigint) = ${DEBITS_LOCK}`,
      [mode, granted],
    )
    return rows.length > 0
  })

describe('a debit and its return at once', () => {
  test('cancel out if the file of the return is read first: the assignment waits and is refused', async () => {
    const { id, lost, walletId, returned } = await aLostDebit()
    const [file, assigned] = await whileLocked('lock table sepa_messages in share mode', async release => {
      const reading = read(returned)
      await untilLock('the file is being read', 'ShareLock', true)
      const assigning = assign(id, lost, walletId)
      await untilLock('the assignment waits', 'ExclusiveLock', false)
      await release()
      return Promise.all([bodyOf(reading), assigning])
    })
    expect(file.payments).toMatchObject([{ outcome: 'unknown_payment', notice: 'returned' }])
    expect([assigned.status, assigned.code]).toEqual([409, 'debit_returned'])
    expect((await wallet(walletId)).availableEuros).toBe(25)
    await proveLedger()
  })

  test('are both booked if the assignment is first: the file waits and finds the transfer', async () => {
    const { id, lost, walletId, returned } = await aLostDebit()
    const row = `select from sepa_messages where id = '${id}' for update`
    const [assigned, file] = await whileLocked(row, async release => {
      const assigning = assign(id, lost, walletId)
      await untilLock('the debit is being assigned', 'ExclusiveLock', true)
      const reading = read(returned)
      await untilLock('the file waits', 'ShareLock', false)
      await release()
      return Promise.all([bodyOf(assigning), bodyOf(reading)])
    })
    const transferId = `transfer_${lost}`
    expect(assigned).toMatchObject({ id: transferId, status: 'completed' })
    expect(file.payments).toMatchObject([{ outcome: 'taken', notice: 'returned', transferId }])
    await bodyOf(giveBack(transferId, 'AC04'))
    expect((await get(transferId)).status).toBe('returned')
    expect((await wallet(walletId)).availableEuros).toBe(25)
    await proveLedger()
  })
})

describe('an assignment', () => {
  test('of each debit of a file at once books them all, and the file lists each as taken', async () => {
    const { id: walletId } = await aWallet(client, 25)
    const lost = Array.from({ length: 6 }, aLostReference)
    const xml = camt(lost.map(reference => bookingOf(reference, '2.00')))
    const { id } = await bodyOf(read(xml))
    const answers = await times(6, index => assign(id, String(lost[index]), walletId))
    expect(statusCounts(answers)).toEqual({ 200: 6 })
    const { payments } = await bodyOf(read(xml))
    expect(payments).toMatchObject(
      lost.map(reference => ({ outcome: 'taken', transferId: `transfer_${reference}` })),
    )
    expect((await wallet(walletId)).availableEuros).toBe(13)
    await proveLedger()
  })

  test('that waits too long for a file, and a file for an assignment, answer 503 and can be repeated', async () => {
    const { id, lost, walletId, returned } = await aLostDebit()
    const refused = await whileLocked(`select pg_advisory_xact_lock(${DEBITS_LOCK})`, () =>
      Promise.all([assign(id, lost, walletId), read(returned)]),
    )
    for (const { status, code, error, headers } of refused) {
      expect([status, code, headers.get('retry-after')]).toEqual([503, 'busy', '1'])
      expect(error).toContain('Try again')
    }
    expect((await wallet(walletId)).availableEuros).toBe(25)
    expect((await bodyOf(assign(id, lost, walletId))).status).toBe('completed')
    expect((await bodyOf(read(returned))).payments).toMatchObject([{ outcome: 'taken' }])
    await proveLedger()
  })
})
