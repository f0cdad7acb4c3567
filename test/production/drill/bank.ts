import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { elementsAt, parseXml, textAt } from '../../../src/iso20022/xml-reader.ts'
import type { TestClient } from '../../support/client.ts'
import {
  aBeneficiary,
  aLiveClient,
  aSepaTransfer,
  aWallet,
  bodyOf,
  creditWallet,
} from '../../support/factories.ts'
import { bookingOf, camt } from '../../support/money/camt.ts'
import { until } from '../../support/until.ts'
import { type Account, type Installation, openAccount } from './installation.ts'

const EUROS = 10

/** A company that pays live money by files, and its bank, which the disaster does not reach. */
export interface Bank {
  readonly account: Account
  /** With a live key. */
  readonly live: TestClient
  /** References of payments that the bank was asked for more than once. */
  orderedTwice(): string[]
  /** An instant payment, which goes to the bank as soon as a worker runs. Returns its reference. */
  pay(): Promise<string>
  /** Fetches files until this payment is in one. */
  untilPaid(endToEndId: string): Promise<void>
  /** Hands in that the payments were debited; returns the outcome of each. */
  handInDebits(endToEndIds: readonly string[]): Promise<string[]>
  /** Assigns debits to the wallet, with the payee of the file in `sent`. */
  assignDebits(endToEndIds: readonly string[]): Promise<void>
  /** What the bank has paid, and what the wallet has paid. */
  paidEuros(): Promise<{ readonly byBank: number; readonly byWallet: number }>
  untilCompleted(endToEndId: string): Promise<void>
  /**
   * Cancels what the bank has and the restored database would send again: before the workers start. Returns the
   * references.
   */
  cancelSent(): Promise<string[]>
}

export async function openBank(place: Installation): Promise<Bank> {
  const account = await openAccount(place, 'Company with a bank')
  const live = await aLiveClient(place, account)
  const { id: walletId } = await aWallet(live)
  await creditWallet(place, { ownerId: account.ownerId, mode: 'live', walletId })
  const balance = async () => (await bodyOf(live.wallets.get({ params: { id: walletId } }))).availableEuros
  const before = await balance()
  const { id: beneficiaryId } = await aBeneficiary(live)
  const orders = new Map<string, number>()
  const debits = new Map<string, string>()
  const readFile = (xml: string) =>
    bodyOf(place.dash.rails.read({ body: { content: Buffer.from(xml).toString('base64'), mode: 'live' } }))

  function fetchFiles(): void {
    const out = join(place.bankDir, 'out')
    if (!existsSync(out)) return
    for (const name of readdirSync(out)) {
      for (const endToEndId of referencesIn(join(out, name)))
        orders.set(endToEndId, (orders.get(endToEndId) ?? 0) + 1)
      rmSync(join(out, name))
    }
  }

  const sentFiles = (): string[] => {
    const folder = join(place.bankDir, 'sent')
    return readdirSync(folder).map(name => join(folder, name))
  }

  /** Undefined if the database does not know the payment. */
  const statusOf = async (endToEndId: string): Promise<string | undefined> =>
    (await live.transfers.get({ params: { id: `transfer_${endToEndId}` } })).body?.status

  return {
    account,
    live,
    orderedTwice() {
      fetchFiles()
      return [...orders].flatMap(([endToEndId, times]) => (times > 1 ? [endToEndId] : []))
    },
    async pay() {
      const members = {
        scheme: 'sct_inst',
        amountEuros: EUROS,
        fromWalletId: walletId,
        beneficiaryId,
      } as const
      return String((await aSepaTransfer(live, members)).endToEndId)
    },
    async untilPaid(endToEndId) {
      await until('the payment is in a file of the bank', () => {
        fetchFiles()
        return orders.has(endToEndId)
      })
    },
    async handInDebits(endToEndIds) {
      const outcomes: string[] = []
      for (const endToEndId of endToEndIds) {
        // The bank gives the same file again.
        const xml = debits.get(endToEndId) ?? camt([bookingOf(endToEndId, EUROS.toFixed(2))])
        debits.set(endToEndId, xml)
        const { payments } = await readFile(xml)
        outcomes.push(payments[0]?.outcome ?? 'none')
      }
      return outcomes
    },
    async assignDebits(endToEndIds) {
      for (const endToEndId of endToEndIds) {
        const { id } = await readFile(String(debits.get(endToEndId)))
        const payee = payeeOf(endToEndId, sentFiles())
        await bodyOf(place.dash.rails.assign({ params: { id }, body: { endToEndId, walletId, payee } }))
      }
    },
    async paidEuros() {
      fetchFiles()
      return { byBank: orders.size * EUROS, byWallet: before - (await balance()) }
    },
    async untilCompleted(endToEndId) {
      await until('the payment is completed', async () => (await statusOf(endToEndId)) === 'completed')
    },
    async cancelSent() {
      const cancelled: string[] = []
      for (const endToEndId of sentFiles().flatMap(referencesIn)) {
        const status = await statusOf(endToEndId)
        if (status !== 'created' && status !== 'verifying') continue
        await bodyOf(live.transfers.cancel({ params: { id: `transfer_${endToEndId}` }, body: {} }))
        cancelled.push(endToEndId)
      }
      return cancelled
    },
  }
}

const referencesIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/<EndToEndId>(\w+)<\/EndToEndId>/g)].map(([, id = '']) => id)

function payeeOf(endToEndId: string, paths: readonly string[]): { name: string; iban: string } {
  const payments = paths.flatMap(path =>
    elementsAt(parseXml(readFileSync(path, 'utf8')), 'CstmrCdtTrfInitn/PmtInf/CdtTrfTxInf'),
  )
  const payment = payments.find(one => textAt(one, 'PmtId/EndToEndId') === endToEndId)
  if (!payment) throw new Error(`No file in sent has ${endToEndId}.`)
  return {
    name: String(textAt(payment, 'Cdtr/Nm')),
    iban: String(textAt(payment, 'CdtrAcct/Id/IBAN')),
  }
}
