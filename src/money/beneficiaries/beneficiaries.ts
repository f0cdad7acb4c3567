import { LockMode } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { given, lock } from '../../kernel/database/entity.ts'
import { isUnanswered, type Payee, type PayeeCheck, type Unanswered } from '../../ports/sepa-rail.ts'
import { countryOfIban } from '../../values/iban.ts'
import { newId } from '../../values/ids.ts'
import { excerpt } from '../../values/schemas.ts'
import { beneficiariesApi } from './api.ts'
import { Beneficiary, bicMismatch, sepaName } from './beneficiary.ts'

const notDeleted = { deletedAt: null }
const locked = { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE } as const

export const findBeneficiary = (em: EntityManager, id: string): Promise<Beneficiary | null> =>
  em.findOne(Beneficiary, { id, ...notDeleted })

/** Of a beneficiary what a payment to it carries. */
export interface PayeeRow extends Row {
  readonly id: string
  readonly name: string
  readonly sepaName: string
  readonly iban: string
  readonly bic: string | null
  readonly country: string
}

const PAYABLE = `
select id, name, sepa_name as "sepaName", iban, bic, country from beneficiaries
where owner_id = $1 and mode = $2 and id = any($3::text[]) and deleted_at is null`

/** For the hot paths: these beneficiaries, without the deleted ones. */
export async function payeesById(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PayeeRow>> {
  const found = await sql<PayeeRow>(PAYABLE, [ownerId, mode, ids])
  return new Map(found.map(one => [one.id, one]))
}

/** A beneficiary that has not been deleted, locked until the transaction ends. */
async function lockBeneficiary(em: EntityManager, id: string): Promise<Beneficiary | null> {
  const beneficiary = await lock(em, Beneficiary, id)
  return beneficiary?.deletedAt ? null : beneficiary
}

const beneficiaryEvent = ({ id, name, country, verification, duplicateOf }: Beneficiary) => ({
  beneficiaryId: id,
  name: excerpt(name),
  country,
  verification: verification?.result ?? null,
  duplicateOf,
})

/**
 * Of the beneficiaries with one IBAN one is the original, the others are its duplicates: a unique key sees to it, and
 * two that come at once are told apart by trying again. Locked, so that it is not deleted while it gets a duplicate.
 */
const originalOf = (em: EntityManager, iban: string): Promise<Beneficiary | null> =>
  em.findOne(
    Beneficiary,
    { iban, duplicateOf: null, ...notDeleted },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  )

/** The oldest duplicate of a beneficiary that has left its IBAN takes its place there. */
async function promoteOldestDuplicate(
  gone: Beneficiary,
  { em, emit }: ContextOf<typeof beneficiariesApi.update>,
): Promise<void> {
  // The place is free once the change is written.
  await em.flush()
  const [heir, ...others] = await em.find(Beneficiary, { duplicateOf: gone.id, ...notDeleted }, locked)
  if (!heir) return
  heir.duplicateOf = null
  for (const other of others) other.duplicateOf = heir.id
  for (const each of [heir, ...others])
    emit('beneficiary.updated', { ...beneficiaryEvent(each), changed: ['duplicateOf'] })
}

/** What a verification is about; plain, for it outlives a crash. */
interface VerificationRequest {
  readonly beneficiaryId: string
  readonly mode: Mode
  readonly reference: string
  readonly payee: Payee
}

type Verifying = ContextOf<typeof beneficiariesApi.verify>

async function recordAnswer(
  answer: PayeeCheck | Unanswered,
  { beneficiaryId, payee }: VerificationRequest,
  context: Verifying,
) {
  const { em, now, emit, refuse } = context
  const beneficiary = await lockBeneficiary(em, beneficiaryId)
  if (!beneficiary) return refuse('beneficiary_not_found')
  if (isUnanswered(answer)) return refuse(answer === 'late' ? 'bank_silent' : 'bank_answer_unusable')
  if (beneficiary.name !== payee.name || beneficiary.iban !== payee.iban) return refuse('beneficiary_changed')
  const verification = { result: answer.result, suggestedName: answer.suggestedName, at: now.toISOString() }
  beneficiary.verification = verification
  emit('beneficiary.verified', beneficiaryEvent(beneficiary))
  return { beneficiaryId, ...verification }
}

const beneficiaries = implement(beneficiariesApi, {
  async create({ body: { country, ...body } }, { em, emit, refuse }) {
    const unfit = bicMismatch(body)
    if (unfit) return refuse('bic_does_not_fit', unfit)
    const original = await originalOf(em, body.iban)
    const beneficiary = em.create(Beneficiary, {
      ...body,
      sepaName: sepaName(body.name),
      country: country ?? countryOfIban(body.iban),
      duplicateOf: original?.id ?? null,
    })
    emit('beneficiary.created', beneficiaryEvent(beneficiary))
    return beneficiary
  },

  list({ query: { iban, country, verification } }, { page }) {
    const byResult = verification && { result: verification === 'none' ? null : verification }
    return page(Beneficiary, { ...notDeleted, ...given({ iban, country, verification: byResult }) })
  },

  async get({ params }, { em, refuse }) {
    return (await findBeneficiary(em, params.id)) ?? refuse('beneficiary_not_found')
  },

  async update({ params, body }, context) {
    const { em, emit, refuse } = context
    const beneficiary = await lockBeneficiary(em, params.id)
    if (!beneficiary) return refuse('beneficiary_not_found')
    const changes = beneficiary.changesTo(body)
    const unfit = bicMismatch({ bic: beneficiary.bic, iban: beneficiary.iban, ...changes })
    if (unfit) return refuse('bic_does_not_fit', unfit)
    const changed = Object.keys(changes)
    if (changed.length === 0) return beneficiary
    const original = changes.iban ? await originalOf(em, changes.iban) : undefined
    beneficiary.change(changes)
    if (original !== undefined) beneficiary.duplicateOf = original?.id ?? null
    emit('beneficiary.updated', { ...beneficiaryEvent(beneficiary), changed })
    if (original !== undefined) await promoteOldestDuplicate(beneficiary, context)
    return beneficiary
  },

  async delete({ params }, context) {
    const { em, now, emit, refuse } = context
    const beneficiary = await lockBeneficiary(em, params.id)
    if (!beneficiary) return refuse('beneficiary_not_found')
    beneficiary.deletedAt = now
    emit('beneficiary.deleted', beneficiaryEvent(beneficiary))
    await promoteOldestDuplicate(beneficiary, context)
  },

  verify: {
    async reserve({ params }, { em, tenant: { mode }, ports, refuse }) {
      const beneficiary = await findBeneficiary(em, params.id)
      if (!beneficiary) return refuse('beneficiary_not_found')
      // Nothing is begun where there is nobody to ask.
      ports.sepaRail(mode)
      const { name, iban, bic } = beneficiary
      return { beneficiaryId: params.id, mode, reference: newId('payeecheck'), payee: { name, iban, bic } }
    },
    call: ({ mode, payee, reference }: VerificationRequest, { ports, requestId }) =>
      ports.sepaRail(mode).verifyPayee(payee, { reference, requestId }),
    record: recordAnswer,
    /** Whatever the bank said has been lost: that is as good as silence. */
    recover: (asked: VerificationRequest, context) => recordAnswer('late', asked, context),
  },
})

export const beneficiariesArea = area(
  'Beneficiaries',
  'Whom you pay by SEPA, and what their banks say of them.',
  beneficiaries,
  { entities: [Beneficiary] },
)
