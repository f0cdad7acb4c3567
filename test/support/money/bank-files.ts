import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aLiveClient, aSepaTransfer, aWallet, bodyOf, creditWallet, type TestClient } from '../factories.ts'
import { startTestService } from '../harness.ts'
import { temporaryFolder } from '../processes/folders.ts'
import { sweepAtOnce } from '../sweep.ts'
import { until } from '../until.ts'
import { expectVerifiedLedger } from '../verified-ledger.ts'
import { openWorkerRuntime } from '../worker-runtime.ts'
import { ACCOUNT } from './camt.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
/** A service whose live SEPA payments leave by files, with the folder shared with the bank and a worker's steps. */
export async function bankFiles(options: { readonly temporal?: true } = {}) {
  const folder = temporaryFolder()
  const [inbox, out] = [join(folder, 'in'), join(folder, 'out')]
  mkdirSync(inbox)
  mkdirSync(out)
  const env = { SEPA_RAIL: 'files', SEPA_FOLDER: folder, COLLECTION_IBAN: ACCOUNT }
  const service = await startTestService({ env, ...options })

  const worker = await openWorkerRuntime(service, env)
  const sandboxWorker = await openWorkerRuntime(service, { ...env, SEPA_RAIL: 'sandbox' })
  const sweep = (by: Partial<typeof worker> = {}) => sweepAtOnce({ ...worker, ...by })
  const owners = [await service.owner(), await service.owner()] as const
  const [live, other] = [await aLiveClient(service, owners[0]), await aLiveClient(service, owners[1])]
  const liveClients = [live, other]

  async function aDueTransfer(by: TestClient, members: Parameters<typeof aSepaTransfer>[1] = {}) {
    const wallet = await aWallet(by)
    const ownerId = owners[liveClients.indexOf(by)]?.ownerId ?? ''
    await creditWallet(service, { ownerId, mode: 'live', walletId: wallet.id })
    const transfer = await aSepaTransfer(by, {
      fromWalletId: wallet.id,
      reference: 'Invoice 4711',
      ...members,
    })
    await makeDue()
    return transfer
  }

  const makeDue = () =>
    service.sql(`update transfers set due_at = now() - interval '1 second' where due_at is not null`)

  async function aSubmitted(by = live, members: Parameters<typeof aSepaTransfer>[1] = {}) {
    const transfer = await aDueTransfer(by, members)
    // A sweep for another transfer may be processing it.
    await until('the payment is submitted', async () => {
      await sweep()
      return (await get(transfer.id, by)).status === 'submitted'
    })
    return { ...transfer, endToEndId: String(transfer.endToEndId) }
  }

  const get = (id: string, by = live) => bodyOf(by.transfers.get({ params: { id } }))

  const closeFiles = () =>
    service.sql(
      `update sepa_files set closes_at = clock_timestamp(), due_at = clock_timestamp() where status = 'open'`,
    )

  async function cutOff(): Promise<void> {
    await closeFiles()
    await sweep()
  }

  const filesOf = async (endToEndId: string) =>
    readdirSync(out).filter(name => readFileSync(join(out, name), 'utf8').includes(`>${endToEndId}<`))

  const receiveFile = (xml: string, mode: 'test' | 'live' = 'live') =>
    service.dash.rails.read({ body: { content: base64(xml), mode } })

  const proveLedgers = async () => {
    for (const by of liveClients) await expectVerifiedLedger(by)
  }

  const lastFile = async () => {
    const { data } = await bodyOf(
      service.dash.rails.files({ query: { mode: 'live', status: 'handed_over', limit: 1 } }),
    )
    if (!data[0]) throw new Error('no file was handed over')
    return data[0]
  }

  return {
    inbox,
    out,
    service,
    worker,
    sandboxWorker,
    sweep,
    owners,
    live,
    other,
    aDueTransfer,
    makeDue,
    aSubmitted,
    get,
    closeFiles,
    cutOff,
    filesOf,
    receiveFile,
    proveLedgers,
    lastFile,
  }
}
