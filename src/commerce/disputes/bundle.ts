import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { findApprovalProof, findIntent, type Intent } from '../../control/intents/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { readStoredFile } from '../../kernel/database/stored-files.ts'
import { readTimelineOfRecords } from '../../kernel/journal/timeline.ts'
import { findRefundsOfTransaction, type Refund } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import type { FilePreviewResult } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'
import { cents, formatMoney } from '../../values/money.ts'
import { type Evidence, findEvidence } from '../evidence/index.ts'
import { type Receipt, receiptsOfTransactions } from '../receipts/index.ts'
import type { disputesApi } from './api.ts'
import { Dispute } from './dispute.ts'
import { decodeDisputeFacts } from './state.ts'
import type { BundleBlock, BundlePicture, BundleSection, bundlePdf, DisputeBundleInput } from './thread.ts'

export const downloadDisputeBundle: HandlerOf<typeof disputesApi.bundle> = async ({ params }, context) => {
  const { em, tenant, systems, refuse } = context
  const dispute = await em.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const input = await buildDisputeBundle(dispute, context)
  // Renders while the answer is sent, when no transaction is open.
  const content = (async function* () {
    const { pdf } = await renderDisputeBundle(input, tenant, systems)
    yield pdf
  })()
  return { type: 'application/pdf', content, name: `dispute-${dispute.id}.pdf` }
}

export async function buildDisputeBundle(
  dispute: Dispute,
  context: ReadContext,
): Promise<DisputeBundleInput> {
  const file = await readCaseFile(dispute, context)
  const { amountCents, id, merchant, transactionId } = dispute
  return {
    title: 'Evidence for a disputed payment',
    subtitle: `${formatMoney(amountCents)} at ${merchant}`,
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

/** The bundle's time, so that a second bundle of the same facts has the same bytes. */
const lastInstant = ({ dispute, timeline }: CaseFile): string =>
  (timeline.at(-1)?.at ?? dispute.createdAt).toISOString()

const MAX_ENTRIES = 1_000

async function readCaseFile(dispute: Dispute, context: ReadContext): Promise<CaseFile> {
  const { em, sql, tenant } = context
  const { transactionId } = dispute
  const [transaction, payment, refunds, { name: holder }] = await Promise.all([
    em.findOneOrFail(Transaction, { id: transactionId }),
    em.findOne(CardAuthorization, { transactionId }),
    findRefundsOfTransaction(transactionId, em),
    findCustomer(em, tenant.ownerId),
  ])
  const { intentId } = transaction
  const known = [dispute.id, transactionId, intentId, payment?.id].flatMap(id => id ?? [])
  const ids = [...known, ...refunds.map(({ id }) => id)]
  const [intent, proof, receipts, evidence, timeline] = await Promise.all([
    intentId === null ? null : findIntent(em, intentId),
    intentId === null ? null : findApprovalProof(intentId, em),
    receiptsOfTransactions([transactionId], context),
    findEvidence(dispute.evidenceIds, context),
    readTimelineOfRecords(sql, tenant, ids, undefined, MAX_ENTRIES),
  ])
  return { holder, dispute, transaction, payment, refunds, intent, proof, receipts, evidence, timeline }
}

interface Owner {
  readonly ownerId: string
  readonly mode: Mode
}

type Rendering = Pick<Systems, 'threads' | 'files' | 'viewer'>

/** Renders in a thread, since a long bundle would block the event loop. Files that cannot be shown are still listed. */
export async function renderDisputeBundle(
  input: DisputeBundleInput,
  owner: Owner,
  systems: Rendering,
): Promise<Awaited<ReturnType<typeof bundlePdf>>> {
  const pictures: { sha256: string; bytes: Uint8Array }[] = []
  for (const picture of input.pictures) {
    const bytes = await viewOf(picture, owner, systems)
    if (bytes) pictures.push({ sha256: picture.sha256, bytes })
  }
  const module = new URL('./thread.ts', import.meta.url)
  const task = { module, name: 'bundlePdf', owner: owner.ownerId }
  return systems.threads.run<typeof bundlePdf>(task, input, pictures)
}

/** Returns the re-encoded picture of a file. If it is missing, the isolated viewer makes it now. */
async function viewOf(
  { sha256, viewSha256, kind }: BundlePicture,
  owner: Owner,
  { threads, files, viewer }: Rendering,
): Promise<Uint8Array | null> {
  const content = await readStoredFile(files, owner, viewSha256 ?? sha256)
  if (typeof content === 'string') return null
  if (viewSha256 !== null) return content
  const looked = await viewer.render(owner.ownerId, kind, ({ module, name }) =>
    threads.run<(bytes: Uint8Array, kind: FileKind) => Promise<FilePreviewResult>>(
      { module: new URL(module), name, owner: owner.ownerId },
      content,
      kind,
    ),
  )
  return 'large' in looked ? looked.large : null
}

interface CaseFile {
  readonly holder: string
  readonly dispute: Dispute
  readonly transaction: Transaction
  readonly payment: CardAuthorization | null
  readonly refunds: readonly Refund[]
  readonly intent: Intent | null
  readonly proof: string | null
  readonly receipts: readonly Receipt[]
  readonly evidence: readonly Evidence[]
  readonly timeline: Awaited<ReturnType<typeof readTimelineOfRecords>>
}

type Rows = readonly (readonly [name: string, value: string | null | undefined])[]

const formatTime = (at: Date | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

const facts = (rows: Rows): BundleBlock => ({
  kind: 'facts',
  rows: rows.flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
})

const reasons = {
  unauthorized: 'The cardholder did not authorize the payment.',
  fraud: 'The payment was made by fraud.',
  not_received: 'The goods or services were never received.',
  not_as_described: 'The goods or services are not as described.',
  duplicate: 'The same purchase was charged more than once.',
  incorrect_amount: 'The charged amount differs from the agreed one.',
  cancelled: 'The purchase was cancelled.',
  credit_not_processed: 'A promised credit was not received.',
} as const

function disputeSection({ dispute, holder }: CaseFile): BundleSection {
  return {
    title: 'The dispute',
    blocks: [
      facts([
        ['Account holder', holder],
        ['Reason', reasons[dispute.reason]],
        ['Disputed', formatMoney(dispute.amountCents)],
        ['Refunded since', dispute.refundedCents > 0n ? formatMoney(dispute.refundedCents) : null],
        ['Opened', formatTime(dispute.createdAt)],
        ['Dispute', dispute.id],
        ['At the processor', dispute.processorDisputeId],
        ['Card frozen', dispute.cardFrozen ? 'yes' : null],
      ]),
      { kind: 'text', text: dispute.description },
    ],
  }
}

function paymentSection({ transaction, payment }: CaseFile): BundleSection {
  const clearings = payment?.facts.clearings ?? []
  return {
    title: 'The payment',
    blocks: [
      facts([
        ['Merchant', transaction.merchant],
        ['On the statement', payment?.descriptor],
        ['Category code', transaction.mcc],
        ['Country', transaction.country],
        ['Amount', formatMoney(transaction.amountCents)],
        ['Refunded', formatMoney(transaction.refundedCents)],
        ['Kind', transaction.type === 'mpp' ? 'machine payment by card' : 'payment by card'],
        ['Begun', formatTime(transaction.createdAt)],
        ['Transaction', transaction.id],
        ['At the network', payment?.processorRef],
        ['Clearings', clearings.map(({ id, amount }) => `${formatMoney(cents(amount))} (${id})`).join(', ')],
      ]),
    ],
  }
}

const refundOrigins = {
  asked: 'requested by the cardholder',
  network: 'sent by the merchant',
  bank: 'sent back by a bank',
  payee: 'refunded by the payee',
} as const satisfies Record<Refund['origin'], string>

function refundsSection({ refunds, payment }: CaseFile): BundleSection[] {
  const credits = payment?.facts.refunds ?? []
  const credit = credits.map(({ id, amount }) => `${formatMoney(cents(amount))} (${id})`).join(', ')
  if (refunds.length === 0) return []
  const table: BundleBlock = {
    kind: 'table',
    columns: [
      { name: 'When', share: 0.21 },
      { name: 'Amount', share: 0.1 },
      { name: 'Received', share: 0.1 },
      { name: 'Stands', share: 0.1 },
      { name: 'How', share: 0.16 },
      { name: 'Refund', share: 0.33 },
    ],
    rows: refunds.map(({ id, createdAt, completedAt, amountCents, arrivedCents, status, origin }) => [
      formatTime(completedAt ?? createdAt),
      formatMoney(amountCents),
      formatMoney(arrivedCents),
      status,
      refundOrigins[origin],
      id,
    ]),
  }
  return [{ title: 'Refunds', blocks: [table, facts([['Credits of the network', credit]])] }]
}

const actors: Readonly<Record<string, string>> = {
  agent: 'the agent',
  key: 'the owner',
  console: 'the owner',
  signed: 'card network',
  process: 'the service',
  operator: 'an operator',
  dash: 'an operator',
}

function timelineSection({ timeline }: CaseFile): BundleSection {
  return {
    title: 'Timeline',
    blocks: [
      {
        kind: 'table',
        columns: [
          { name: 'When', share: 0.21 },
          { name: 'What', share: 0.2 },
          { name: 'Who', share: 0.13 },
          { name: 'Amount', share: 0.1 },
          { name: 'Details', share: 0.36 },
        ],
        rows: timeline.map(({ at, event, actorType, amountCents, reason, resourceId }) => [
          formatTime(at),
          event,
          actors[actorType] ?? actorType,
          amountCents === null ? '' : formatMoney(amountCents),
          reason ?? resourceId,
        ]),
      },
    ],
  }
}

const factLabels = {
  credited: 'The card network has paid provisionally.',
  won: 'The card network has decided for the cardholder.',
  lost: 'The card network has decided for the merchant.',
  withdrawn: 'The cardholder has withdrawn the dispute.',
  lapsed: 'The deadline for evidence passed, and nothing was submitted.',
} as const

function correspondenceSection({ dispute }: CaseFile): BundleSection[] {
  const { finding } = dispute
  const stated = decodeDisputeFacts(dispute.facts).map(({ at, type, cents: amount }) => ({
    at,
    text: `${factLabels[type]}${amount === null ? '' : ` ${formatMoney(cents(amount))}.`}`,
  }))
  const found = finding ? [{ at: finding.at, text: `Finding: ${finding.finding}. ${finding.reasons}` }] : []
  const rows = [...stated, ...found].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  if (rows.length === 0) return []
  const block: BundleBlock = {
    kind: 'table',
    columns: [
      { name: 'When', share: 0.22 },
      { name: 'What', share: 0.78 },
    ],
    rows: rows.map(({ at, text }) => [formatTime(at), text]),
  }
  return [{ title: 'Correspondence', blocks: [block] }]
}

const deciders = {
  policy: 'the policy, by itself',
  key: 'an API key of the owner',
  console: 'a person in the console',
  operator: 'an operator',
  mandate: 'a mandate that a person has signed',
} as const

function intentSection({ intent, proof }: CaseFile): BundleSection[] {
  if (!intent) return []
  const { decidedBy } = intent
  const blocks: BundleBlock[] = [
    facts([
      ['Purpose', intent.purpose],
      ['Merchant', intent.merchant],
      ['Amount', formatMoney(intent.amountCents)],
      ['Declared', formatTime(intent.createdAt)],
      ['Agent', intent.agentId],
      ['Run', intent.runId],
      ['Intent', intent.id],
      ['Approved', intent.decidedAt && formatTime(intent.decidedAt)],
      [
        'Approved by',
        decidedBy && `${deciders[decidedBy.type]}${decidedBy.name ? `: ${decidedBy.name}` : ''}`,
      ],
      ['Comment', intent.comment],
    ]),
  ]
  if (proof !== null)
    blocks.push(
      {
        kind: 'text',
        text: 'The proof that a person approved it with a passkey. Anyone can verify it with the keys under /.well-known/jwks.json: it is invalid if a single digit of the amount was changed.',
      },
      { kind: 'text', text: proof, isSmall: true },
    )
  return [{ title: 'The declared payment and its purpose', blocks }]
}

function decisionSection({ intent, payment }: CaseFile): BundleSection[] {
  const decision = intent?.decision ?? payment?.decision
  if (!decision) return []
  const outcome = decision.allowed ? 'allowed' : 'refused'
  return [
    {
      title: 'The decision',
      blocks: [
        facts([
          ['Outcome', decision.requiresApproval ? `${outcome}, once approved` : outcome],
          ['Reason', decision.reason],
          ['Policy', decision.policyId && `${decision.policyId}, version ${decision.policyVersion ?? ''}`],
          ['Decision', decision.id],
        ]),
        {
          kind: 'table',
          columns: [
            { name: 'Rule', share: 0.27 },
            { name: 'Outcome', share: 0.12 },
            { name: 'Result', share: 0.61 },
          ],
          rows: decision.checks.map(({ rule, outcome, message }) => [rule, outcome, message ?? '']),
        },
      ],
    },
  ]
}

/** SHA-256 and the time of arrival prove that the evidence was not made up later. */
function evidenceSections({ evidence }: CaseFile): BundleSection[] {
  if (evidence.length === 0) return []
  const blocks = evidence.flatMap((piece, index): BundleBlock[] => [
    facts([
      [`${index + 1}. ${piece.type}`, piece.note ?? piece.fileName ?? 'no note'],
      ['Received', formatTime(piece.receivedAt)],
      [
        'File',
        piece.text === null
          ? `${piece.fileName ?? 'no name'}, ${piece.mediaType}, ${piece.bytes} bytes`
          : null,
      ],
      ['SHA-256', piece.sha256],
      ['Evidence', piece.id],
    ]),
    ...(piece.text === null ? [] : [{ kind: 'text', text: excerptOf(piece.text) } as const]),
  ])
  return [{ title: 'Evidence', blocks }]
}

/** In lines: about five pages. Fifty texts of empty lines would exceed the time limit of a thread. */
const MAX_LINES = 300

function excerptOf(text: string): string {
  const shown = text.split('\n', MAX_LINES).join('\n')
  if (shown.length === text.length) return text
  return `${shown.trimEnd()}\n… ${text.length - shown.length} of its ${text.length} characters are omitted here.`
}

function receiptSections({ receipts }: CaseFile): BundleSection[] {
  if (receipts.length === 0) return []
  const blocks = receipts.map((receipt, index) =>
    facts([
      [
        `${index + 1}. receipt`,
        `${receipt.fileName ?? 'no name'}, ${receipt.mediaType}, ${receipt.bytes} bytes`,
      ],
      ['Stands', receipt.status],
      ['Received', formatTime(receipt.receivedAt)],
      ['SHA-256', receipt.sha256],
      ['Receipt', receipt.id],
    ]),
  )
  return [{ title: 'Receipts', blocks }]
}

const MAX_PICTURES = 20

function picturesOf({ receipts, evidence }: CaseFile): BundlePicture[] {
  const papers = receipts.map(
    ({ sha256, mediaType, largeSha256 }, index): BundlePicture => ({
      title: `Receipt ${index + 1}`,
      sha256,
      kind: mediaType,
      viewSha256: largeSha256,
    }),
  )
  const pieces = evidence.flatMap(({ sha256, mediaType, note, viewSha256 }, index): BundlePicture[] =>
    mediaType === 'text/plain'
      ? []
      : [
          {
            title: `Evidence ${index + 1}${note === null ? '' : `: ${note}`}`,
            sha256,
            kind: mediaType,
            viewSha256,
          },
        ],
  )
  return [...papers, ...pieces].slice(0, MAX_PICTURES)
}
