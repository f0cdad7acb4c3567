import { area } from '../../kernel/area.ts'
import { after } from '../../kernel/clock.ts'
import { type ContextOf, implement } from '../../kernel/operation.ts'
import { given } from '../../kernel/record.ts'
import { createdWithin } from '../../kernel/span.ts'
import { openBook, shortOf } from '../../money/ledger/ledger.ts'
import { type Known, walletsOf } from '../../money/wallets/wallets.ts'
import { HIGHEST, transfersApi } from './api.ts'
import { takeUp, UNATTENDED } from './course.ts'
import { aboutTransfer } from './events.ts'
import { limitsApi } from './limits-api.ts'
import { look } from './look.ts'
import { ownerLimits } from './owner-limits.ts'
import { pain001 } from './pain001.ts'
import { pay } from './pay.ts'
import { transferProcess } from './process.ts'
import { shown } from './shown.ts'
import { simulate } from './simulate.ts'
import { simulateApi } from './simulate-api.ts'
import { inquire, lapse, noticed, submit, verify } from './steps.ts'
import { stepsApi } from './steps-api.ts'
import { divide, type Part, Transfer, transferMachine } from './transfer.ts'

export { type Paid, paymentsUnder, takeNotice } from './rail-notices.ts'
export { courseEvents } from './records.ts'

type Split = ContextOf<typeof transfersApi.split>

interface Asked {
  readonly amountEuros?: bigint | undefined
  readonly parts: readonly {
    walletId: string
    amountEuros?: bigint | undefined
    share?: number | undefined
  }[]
}

/** Who gets what. */
function partsOf({ amountEuros, parts }: Asked): Part[] {
  const amounts =
    amountEuros === undefined
      ? parts.map(part => part.amountEuros ?? 0n)
      : divide(
          amountEuros,
          parts.map(({ share = 0 }) => share),
        )
  return parts.map(({ walletId }, index) => ({ walletId, amountEuros: amounts[index] ?? 0n }))
}

/** Why these wallets cannot take part; undefined where they can. */
function hindrance(from: Known | undefined, payees: readonly (Known | undefined)[], { refuse }: Split) {
  if (!from || payees.includes(undefined)) return refuse('wallet_not_found')
  if (payees.includes(from)) return refuse('same_wallet')
  if ([from, ...payees].some(wallet => wallet?.status === 'closed')) return refuse('wallet_closed')
  return from.status === 'frozen' ? refuse('wallet_frozen') : undefined
}

const transfers = implement(transfersApi, {
  create: pay,

  async split({ body }, context) {
    const { em, sql, now, emit, refuse } = context
    const parts = partsOf(body)
    const amountEuros = parts.reduce((sum, part) => sum + part.amountEuros, 0n)
    if (amountEuros > HIGHEST) return refuse('too_much')
    if (parts.some(part => part.amountEuros === 0n)) return refuse('part_of_nothing')
    const { fromWalletId, reference } = body
    const ids = [fromWalletId, ...parts.map(({ walletId }) => walletId)]
    const book = await openBook(sql, context, { wallets: ids })
    const [from, ...payees] = await known(ids, context)
    const hindered = hindrance(from, payees, context)
    if (hindered) return hindered
    if (!book.canPay(fromWalletId, amountEuros))
      return refuse('insufficient_funds', shortOf(amountEuros, book.available(fromWalletId)))
    const stored = parts.map(part => ({ walletId: part.walletId, cents: String(part.amountEuros) }))
    const members = {
      kind: 'split',
      fromWalletId,
      amountEuros,
      parts: stored,
      reference,
      completedAt: now,
    } as const
    const transfer = em.create(Transfer, members)
    transferMachine.move(transfer, 'completed')
    await em.flush()
    book.spread('transfer', fromWalletId, parts, { type: 'transfer', id: transfer.id })
    await book.post(sql)
    emit('transfer.split.completed', aboutTransfer(transfer))
    return shown(transfer)
  },

  async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithin('transfer', { from, to }, context)
    const found = await context.page(Transfer, given({ ...filters, ...created }))
    return { ...found, data: found.data.map(shown) }
  },

  async get({ params }, { em, refuse }) {
    const transfer = await em.findOne(Transfer, { id: params.id })
    return transfer ? shown(transfer) : refuse('transfer_not_found')
  },

  pain001,

  async cancel({ params, body }, context) {
    const course = await takeUp(params.id, context)
    if (!course) return context.refuse('transfer_not_found')
    const reason = body.comment ? { code: 'cancelled', message: body.comment } : null
    if (!(await course.cancel(reason)))
      return context.refuse('transfer_not_cancellable', whyNotCancelled(course.transfer))
    await course.post()
    return shown(course.transfer)
  },

  async confirmPayee({ params, body }, context) {
    const { now, refuse } = context
    const course = await takeUp(params.id, context)
    if (!course) return refuse('transfer_not_found')
    const { transfer } = course
    if (transfer.status !== 'verifying' || !transfer.isToBeConfirmed()) return refuse('payee_not_waiting')
    course.update({ payeeConfirmedAt: now, dueAt: after(now, UNATTENDED) }, body.comment)
    return shown(transfer)
  },

  async recall({ params, body }, context) {
    const { now, refuse } = context
    const course = await takeUp(params.id, context)
    if (!course) return refuse('transfer_not_found')
    const { status, kind, recall } = course.transfer
    if (kind !== 'sepa' || (status !== 'submitted' && status !== 'completed'))
      return refuse('transfer_not_recallable')
    if (recall?.status === 'requested') return refuse('recall_under_way')
    const asked = { status: 'requested', at: now.toISOString(), reason: body.reason } as const
    course.update({ recall: { ...asked, answeredAt: null, answer: null }, dueAt: now, inquiries: 0 })
    return shown(course.transfer)
  },
})

const whyNotCancelled = ({ kind, status }: Transfer): string | undefined =>
  kind === 'sepa' && (status === 'submitted' || status === 'completed')
    ? undefined
    : `The transfer is ${status} already.`

const processed = implement(stepsApi, { look, verify, submit, inquire, lapse, noticed })

/** All of it is of one noun: told apart by who calls. */
const all = implement(
  { ...limitsApi, ...transfersApi, ...stepsApi, ...simulateApi },
  { ...ownerLimits.handlers, ...transfers.handlers, ...processed.handlers, ...simulate.handlers },
)

async function known(ids: readonly string[], { sql, tenant }: Pick<Split, 'sql' | 'tenant'>) {
  const wallets = await walletsOf(sql, tenant, ids)
  return ids.map(id => wallets.get(id))
}

export const transfersArea = area(
  'Transfers',
  'Money that an owner moves: between wallets, one to one or one to many, and by SEPA.',
  all,
  {
    entities: [Transfer],
    machines: [transferMachine],
    deadlines: [
      {
        process: transferProcess,
        table: 'transfers',
        record: 'id',
        agent: 'agent_id',
        due: 'due_at',
        open: 'due_at is not null',
        waits: 'workflow_id is not null',
        operations: ['transfers.verify', 'transfers.submit', 'transfers.lapse', 'transfers.inquire'],
      },
    ],
  },
)
