import { createHash } from 'node:crypto'
import { after, minutes } from '../../kernel/clock.ts'
import type { Mode } from '../../kernel/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/operation.ts'
import { lock } from '../../kernel/record.ts'
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
  const payments = await orderedBy(sql, file.id)
  if (payments.length === 0) {
    file.dueAt = null
    return { done: !fileMachine.move(file, 'empty') }
  }
  const { messageId, executeOn, scheme } = file
  const order = { messageId, madeAt: now, executeOn, scheme, payments }
  const content = ports.sepaRail(file.mode).message(order)
  Object.assign(file, {
    content,
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
  ports.sepaRail(tenant.mode)
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
    if (errand) await ports.sepaRail(errand.mode).stage(errand.name, errand.content)
  },
  async record(_, errand: Errand | null, { em, now }) {
    const file = errand && (await lock(em, SepaFile, errand.id))
    if (file && fileMachine.move(file, 'staged')) file.dueAt = now
    return DONE
  },
  recover: async () => DONE,
}

export const release: HandlerOf<typeof stepsApi.release> = {
  reserve: ({ params }, context) => take(params.id, 'staged', context),
  async call(errand: Errand | null, { ports }) {
    if (errand) await ports.sepaRail(errand.mode).release(errand.name)
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
