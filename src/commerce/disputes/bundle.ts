import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { findIntent, proofOf } from '../../control/intents/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { readFile } from '../../kernel/database/stored-files.ts'
import { timelineOfRecords } from '../../kernel/journal/timeline.ts'
import { refundsOf } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import type { Looked } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'
import { formatEuros } from '../../values/money.ts'
import { findEvidence } from '../evidence/index.ts'
import { receiptsOf } from '../receipts/index.ts'
import type { disputesApi } from './api.ts'
import {
  type CaseFile,
  correspondenceSection,
  decisionSection,
  disputeSection,
  evidenceSections,
  intentSection,
  paymentSection,
  picturesOf,
  receiptSections,
  refundsSection,
  timelineSection,
} from './bundle-sections.ts'
import { Dispute } from './dispute.ts'
import type { BundleInput, bundlePdf, Picture } from './thread.ts'

export const bundle: HandlerOf<typeof disputesApi.bundle> = async ({ params }, context) => {
  const { records, tenant, ports, refuse } = context
  const dispute = await records.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const input = await bundleOf(dispute, context)
  // Nothing is laid out before the answer begins: no transaction is open then.
  const content = (async function* () {
    const { pdf } = await renderBundle(input, tenant, ports)
    yield pdf
  })()
  return { type: 'application/pdf', content, name: `dispute-${dispute.id}.pdf` }
}

/** The content of a bundle as it is now. The same facts give the same content, and so the same bytes. */
export async function bundleOf(
  dispute: Dispute,
  context: Pick<Context, 'records' | 'sql' | 'tenant' | 'ports'>,
): Promise<BundleInput> {
  const file = await readCaseFile(dispute, context)
  const { amountEuros, id, merchant, transactionId } = dispute
  return {
    title: 'Evidence for a disputed payment',
    subtitle: `${formatEuros(amountEuros)} at ${merchant}`,
    author: file.holder,
    madeAt: lastInstant(file),
    sections: [
      disputeSection(file),
      paymentSection(file),
      ...refundsSection(file),
      ...intentSection(file),
      ...decisionSection(file),
      ...receiptSections(file),
      ...evidenceSections(file),
      timelineSection(file),
      ...correspondenceSection(file),
    ],
    pictures: picturesOf(file),
    foot: `${id} · ${transactionId}`,
  }
}

/** The last thing that it tells of: a second bundle of the same facts has the same time. */
const lastInstant = ({ dispute, timeline }: CaseFile): string =>
  (timeline.at(-1)?.at ?? dispute.createdAt).toISOString()

/** The most entries of the timeline that a bundle shows: the oldest ones. */
const MOST_ENTRIES = 1_000

type Reading = Pick<Context, 'records' | 'sql' | 'tenant' | 'ports'>

async function readCaseFile(dispute: Dispute, context: Reading): Promise<CaseFile> {
  const { records, sql, tenant } = context
  const { transactionId } = dispute
  const [transaction, payment, refunds, { name: holder }] = await Promise.all([
    records.findOneOrFail(Transaction, { id: transactionId }),
    records.findOne(CardAuthorization, { transactionId }),
    refundsOf(transactionId, records),
    findCustomer(records, tenant.ownerId),
  ])
  const { intentId } = transaction
  const known = [dispute.id, transactionId, intentId, payment?.id].flatMap(id => id ?? [])
  const ids = [...known, ...refunds.map(({ id }) => id)]
  const [intent, proof, receipts, evidence, timeline] = await Promise.all([
    intentId === null ? null : findIntent(records, intentId),
    intentId === null ? null : proofOf(intentId, records),
    receiptsOf([transactionId], context),
    findEvidence(dispute.evidenceIds, context),
    timelineOfRecords(sql, tenant, ids, undefined, MOST_ENTRIES),
  ])
  return { holder, dispute, transaction, payment, refunds, intent, proof, receipts, evidence, timeline }
}

interface Owner {
  readonly ownerId: string
  readonly mode: Mode
}

type Rendering = Pick<Ports, 'threads' | 'files' | 'viewer'>

/** Lays a bundle out in a thread: a long one would hold the event loop. What cannot be shown is named all the same. */
export async function renderBundle(
  input: BundleInput,
  owner: Owner,
  ports: Rendering,
): Promise<Awaited<ReturnType<typeof bundlePdf>>> {
  const pictures: { sha256: string; bytes: Uint8Array }[] = []
  for (const picture of input.pictures) {
    const bytes = await viewOf(picture, owner, ports)
    if (bytes) pictures.push({ sha256: picture.sha256, bytes })
  }
  const module = new URL('./thread.ts', import.meta.url)
  const task = { module, name: 'bundlePdf', owner: owner.ownerId }
  return ports.threads.run<typeof bundlePdf>(task, input, pictures)
}

/** The picture that was made anew of a file; where none was, it is made now, where the file can do no harm. */
async function viewOf(
  { sha256, viewSha256, kind }: Picture,
  owner: Owner,
  { threads, files, viewer }: Rendering,
): Promise<Uint8Array | null> {
  const content = await readFile(files, owner, viewSha256 ?? sha256)
  if (typeof content === 'string') return null
  if (viewSha256 !== null) return content
  const looked = await viewer.look(owner.ownerId, kind, ({ module, name }) =>
    threads.run<(bytes: Uint8Array, kind: FileKind) => Promise<Looked>>(
      { module: new URL(module), name, owner: owner.ownerId },
      content,
      kind,
    ),
  )
  return 'large' in looked ? looked.large : null
}
