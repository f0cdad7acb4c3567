import { createHash } from 'node:crypto'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { lock } from '../../kernel/database/entity.ts'
import type { HandOver, SepaRail } from '../../ports/sepa-rail.ts'
import { bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { after, minutes } from '../../values/clock.ts'
import { orderedBy } from './queue.ts'
import { fileMachine, SepaFile } from './sepa-file.ts'
import type { stepsApi } from './steps-api.ts'

type Releasing = ContextOf<typeof stepsApi.release>

/** Whoever hands a file over has this long before somebody else tries. */
const AT_MOST = minutes(2)

const DONE = { done: true }

const about = ({ id, messageId, payments }: SepaFile) => ({ fileId: id, messageId, payments })

export const make: HandlerOf<typeof stepsApi.make> = async ({ params }, context) => {
  const { em, sql, now, ports, emit } = context
  const file = await lock(em, SepaFile, params.id)
  if (file?.status !== 'open') return DONE
  if (file.closesAt > now) return { done: false }
  const rail = ports.sepaRail(file.mode)
  handOverOf(rail)
  const payments = await orderedBy(sql, file.id)
  if (payments.length === 0) {
    file.dueAt = null
    fileMachine.move(file, 'empty')
    emit('sepa.file_empty', about(file))
    return { done: false }
  }
  const { messageId, scheme } = file
  const executeOn = dayOf(file, now)
  const order = { messageId, madeAt: now, executeOn, scheme, payments }
  const content = rail.message(order)
  Object.assign(file, {
    content,
    executeOn,
    sha256: createHash('sha256').update(content).digest('hex'),
    payments: payments.length,
    totalEuros: payments.reduce((sum, { amountEuros }) => sum + amountEuros, 0n),
    madeAt: now,
    dueAt: now,
  })
  fileMachine.move(file, 'made')
  emit('sepa.file_made', about(file))
  return DONE
}

/** No bank carries anything out in the past: a file that is made days late is for the day on which it is made. */
function dayOf({ executeOn, scheme }: SepaFile, now: Date): string {
  const today = bankDateOf(now)
  if (today <= executeOn) return executeOn
  return scheme === 'sct_inst' ? today : bankDayOnOrAfter(today)
}

/** Payments that wait do so until the rail is one by files again: nothing of them is given to another. */
function handOverOf({ files }: SepaRail): HandOver {
  if (!files)
    throw new Problem('not_configured', 'Payments wait for their file, and SEPA_RAIL is not `files`.')
  return files
}

interface Errand {
  readonly id: string
  readonly mode: Mode
  readonly name: string
  readonly content: string
}

/** A file that stands so, taken by the one who asks. */
async function take(
  id: string,
  status: SepaFile['status'],
  { em, now, tenant, ports }: Pick<Releasing, 'em' | 'now' | 'tenant' | 'ports'>,
): Promise<Errand | null> {
  const file = await lock(em, SepaFile, id)
  if (!file || file.status !== status || !file.dueAt || file.dueAt > now) return null
  handOverOf(ports.sepaRail(tenant.mode))
  file.dueAt = after(now, AT_MOST)
  return { id, mode: file.mode, name: file.fileName, content: String(file.content) }
}

/**
 * It is laid down, and known to be so, before the bank can have it: who finds nothing laid down afterwards knows that
 * the bank has it, and does not give it a second time.
 */
export const stage: HandlerOf<typeof stepsApi.stage> = {
  reserve: ({ params }, context) => take(params.id, 'made', context),
  async call(errand: Errand | null, { ports }) {
    if (errand) await handOverOf(ports.sepaRail(errand.mode)).stage(errand.name, errand.content)
  },
  async record(_, errand: Errand | null, { em, now, emit }) {
    const file = errand && (await lock(em, SepaFile, errand.id))
    if (!file || !fileMachine.move(file, 'staged')) return DONE
    file.dueAt = now
    emit('sepa.file_staged', about(file))
    return DONE
  },
  recover: async () => DONE,
}

export const release: HandlerOf<typeof stepsApi.release> = {
  reserve: ({ params }, context) => take(params.id, 'staged', context),
  async call(errand: Errand | null, { ports }) {
    if (errand) await handOverOf(ports.sepaRail(errand.mode)).release(errand.name)
  },
  async record(_, errand: Errand | null, { em, now, emit }) {
    const file = errand && (await lock(em, SepaFile, errand.id))
    if (!file || !fileMachine.move(file, 'handed_over')) return DONE
    Object.assign(file, { handedOverAt: now, dueAt: null })
    emit('sepa.file_handed_over', about(file))
    return DONE
  },
  recover: async () => DONE,
}
