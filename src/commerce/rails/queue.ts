import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { OrderedPayment, SepaScheme } from '../../ports/sepa-rail.ts'
import { addMs, clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import type { PersonalData } from '../../values/personal.ts'
import type { sepaQueueApi } from './api.ts'
import { sepaFileProcess } from './process.ts'
import { type SepaFile, sepaFileMachine } from './sepa-file.ts'

type EnqueueContext = ContextOf<typeof sepaQueueApi.enqueue>
type FileRow = Row & Pick<SepaFile, 'id' | 'status'>

/** Creates the file of a cut-off if it is missing, and locks it until the transaction ends. */
const OPEN_FILE = `
insert into sepa_files (id, owner_id, mode, created_at, updated_at, scheme, closes_at, execute_on, status, message_id,
  payments, total_cents, due_at)
values ($1, $2, $3, $4, $4, $5, $6, $7, '${sepaFileMachine.initial}', $8, 0, 0, $6)
on conflict (mode, scheme, closes_at) do update set updated_at = excluded.updated_at
returning id, status`

/** Finds the open file of the next cut-off. Another request may have closed or created one just now. */
async function openFile(scheme: SepaScheme, at: Date, context: EnqueueContext): Promise<FileRow> {
  const { sql, tenant, now, systems } = context
  const { closesAt, executeOn } = systems.sepaRail(tenant.mode).nextFile(scheme, at)
  const id = newId('sepafile')
  const messageId = id.replace('sepafile_', '')
  const values = [id, tenant.ownerId, tenant.mode, now, scheme, closesAt, executeOn, messageId]
  const [file] = await sql<FileRow>(OPEN_FILE, values)
  if (file?.id === id)
    context.wake(sepaFileProcess, { id, agentId: null, status: file.status, dueAt: closesAt })
  if (file?.status === 'open') return file
  return openFile(scheme, addMs(closesAt, 1), context)
}

const INSERT_INSTRUCTION = `
insert into sepa_instructions (owner_id, mode, id, file_id, created_at, end_to_end_id, amount_cents, payee, reference)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (owner_id, mode, id) do nothing returning id`

type Name = readonly [ownerId: string, mode: Mode, id: string]
type QueueContext = Pick<TenantNow, 'tenant'>

/** The queue belongs to the platform, and each instruction has the owner of its transfer. */
const nameOf = ({ ownerId, id }: { ownerId: string; id: string }, { tenant }: QueueContext): Name => [
  ownerId,
  tenant.mode,
  id,
]

/**
 * An inquiry waits for a payment that is being put into a file. That payment would otherwise be unknown, so an instant one
 * would be rejected, and paid all the same.
 */
const LOCK_PAYMENT = `select pg_advisory_xact_lock(hashtextextended('sepa_payment|' || $1, 0))`

export const enqueuePayment: HandlerOf<typeof sepaQueueApi.enqueue> = async ({ params, body }, context) => {
  const { sql, now, emit } = context
  const name = nameOf(params, context)
  await sql(LOCK_PAYMENT, [params.id])
  const current = await queueStatusOf(sql, name)
  const { scheme, endToEndId, amountCents, payee, reference, until } = body
  if (current || (until && clock.real() > until)) return { standing: current }
  const file = await openFile(scheme, now, context)
  const values = [...name, file.id, now, endToEndId, amountCents, JSON.stringify(payee), reference]
  const isNew = (await sql(INSERT_INSTRUCTION, values)).length > 0
  if (isNew) emit('sepa.payment_queued', { transferId: params.id, fileId: file.id })
  return { standing: await queueStatusOf(sql, name) }
}

const QUEUE_STATUS = `
select case when i.taken_out_at is not null then 'taken_out' when f.status = 'open' then 'waiting' else 'ordered' end
  as standing
from sepa_instructions i join sepa_files f on f.id = i.file_id
where (i.owner_id, i.mode, i.id) = ($1, $2, $3)`

async function queueStatusOf(sql: Sql, name: Name) {
  const [row] = await sql<{ standing: 'waiting' | 'ordered' | 'taken_out' }>(QUEUE_STATUS, name)
  return row?.standing ?? null
}

export const queuedPaymentStatus: HandlerOf<typeof sepaQueueApi.standing> = async ({ params }, context) => {
  await context.sql(LOCK_PAYMENT, [params.id])
  return { standing: await queueStatusOf(context.sql, nameOf(params, context)) }
}

const LOCK_FILE = `
select f.id from sepa_files f join sepa_instructions i on f.id = i.file_id
where (i.owner_id, i.mode, i.id) = ($1, $2, $3) and f.status = 'open' for update of f`

const REMOVE = `
update sepa_instructions set taken_out_at = $4
where (owner_id, mode, id) = ($1, $2, $3) and taken_out_at is null`

export const removeQueuedPayment: HandlerOf<typeof sepaQueueApi.takeOut> = async ({ params }, context) => {
  const { sql, now, emit } = context
  const name = nameOf(params, context)
  const [file] = await sql<{ id: string }>(LOCK_FILE, name)
  if (file && (await queueStatusOf(sql, name)) === 'waiting') {
    await sql(REMOVE, [...name, now])
    emit('sepa.payment_taken_out', { transferId: params.id, fileId: file.id })
  }
  return { standing: await queueStatusOf(sql, name) }
}

const PAYMENTS_IN_FILE = `
select end_to_end_id as "endToEndId", amount_cents as "amountCents", payee, reference, null as "payerIban"
from sepa_instructions where file_id = $1 and taken_out_at is null order by id`

/** The payments of all owners in a file, without removed ones. The file is locked, so no payment is added. */
export const paymentsInFile = (sql: Sql, fileId: string): Promise<OrderedPayment[]> =>
  sql<OrderedPayment & Row>(PAYMENTS_IN_FILE, [fileId])

const ORDERED_IN = `
select i.end_to_end_id as "endToEndId" from sepa_instructions i join sepa_files f on f.id = i.file_id
where f.mode = $1 and f.message_id = $2 and f.content is not null and i.taken_out_at is null order by i.id`

export const endToEndIdsInMessage = async (sql: Sql, mode: string, messageId: string): Promise<string[]> =>
  (await sql<{ endToEndId: string }>(ORDERED_IN, [mode, messageId])).map(({ endToEndId }) => endToEndId)

export const instructionsPersonalData = {
  sepa_instructions: {
    personal: {
      payee: { kind: 'name', ground: 'vouchers', forget: 'empty' },
      reference: { kind: 'words', ground: 'vouchers', forget: 'word' },
    },
    plain: ['file_id', 'end_to_end_id'],
  },
} as const satisfies PersonalData
