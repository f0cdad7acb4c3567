import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { PayableRecord } from '../../kernel/contract/payables.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type BeneficiaryRow, beneficiariesById } from '../../money/beneficiaries/index.ts'
import { findPayableWallets, isPurse, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { type Cents, formatMoney } from '../../values/money.ts'
import { normalizeMerchant } from '../merchants/index.ts'

export interface PaymentTokenPayee {
  readonly id: string
  readonly name: string
  readonly iban: string | null
}

export interface IntentPayeeReference {
  readonly merchant?: string | undefined
  readonly country: string | null
  readonly beneficiaryId: string | null
  readonly walletId: string | null
  readonly requestId: string | null
  readonly paymentToken?: PaymentTokenPayee
}

/** The payee that the rules judge. The IBAN is known if the payee is a record of the service. */
export interface ResolvedPayee {
  readonly merchant: string
  readonly payeeIban: string | null
  readonly country: string | null
}

interface RequestPayee extends PayableRecord {
  readonly iban: string | null
}

type PayeeRefusal = readonly [
  code:
    | 'wallet_not_found'
    | 'wallet_of_card'
    | 'beneficiary_not_found'
    | 'request_not_found'
    | 'request_not_open'
    | 'request_other_amount',
  message?: string,
]

/** The records that requests name as payees. Their name, IBAN and country count, even if a request states others. */
export class ResolvedPayees {
  readonly #wallets: ReadonlyMap<string, WalletRow>
  readonly #beneficiaries: ReadonlyMap<string, BeneficiaryRow>
  readonly #requests: ReadonlyMap<string, RequestPayee>

  constructor(
    wallets: ReadonlyMap<string, WalletRow>,
    beneficiaries: ReadonlyMap<string, BeneficiaryRow>,
    requests: ReadonlyMap<string, RequestPayee>,
  ) {
    this.#wallets = wallets
    this.#beneficiaries = beneficiaries
    this.#requests = requests
  }

  refusalOf(
    { beneficiaryId, walletId, requestId }: IntentPayeeReference,
    amount: Cents,
  ): PayeeRefusal | undefined {
    const wallet = walletId ? this.#wallets.get(walletId) : undefined
    if (walletId && !wallet) return ['wallet_not_found']
    if (wallet && isPurse(wallet)) return ['wallet_of_card']
    if (beneficiaryId && !this.#beneficiaries.has(beneficiaryId)) return ['beneficiary_not_found']
    return requestId ? payeeRequestRefusal(this.#requests.get(requestId), amount) : undefined
  }

  resolve({
    merchant = '',
    country,
    beneficiaryId,
    walletId,
    requestId,
    paymentToken,
  }: IntentPayeeReference): ResolvedPayee {
    if (paymentToken) return { merchant: paymentToken.name, payeeIban: paymentToken.iban, country }
    const request = requestId ? this.#requests.get(requestId) : undefined
    if (request) return { merchant: request.payee, payeeIban: request.iban, country }
    const wallet = walletId ? this.#wallets.get(walletId) : undefined
    if (wallet) return { merchant: wallet.name, payeeIban: wallet.iban, country }
    const beneficiary = beneficiaryId ? this.#beneficiaries.get(beneficiaryId) : undefined
    if (!beneficiary) return { merchant, country, payeeIban: null }
    const { name, iban } = beneficiary
    return { merchant: name, payeeIban: iban, country: beneficiary.country ?? country }
  }

  contradiction(reference: IntentPayeeReference): string | undefined {
    const payee = this.resolve(reference)
    const { merchant, country } = reference
    if (merchant !== undefined && normalizeMerchant(merchant) !== normalizeMerchant(payee.merchant))
      return `merchant: ${merchant} is not the payee ${payee.merchant}. Leave it out.`
    if (country !== null && country !== payee.country)
      return `country: ${payee.merchant} is in ${payee.country}, not in ${country}. Leave it out.`
    return undefined
  }
}

/** A payment request is paid while it is open, and as a whole, so the intent must have its exact amount. */
export function payeeRequestRefusal(
  request: PayableRecord | undefined,
  amount: Cents,
): PayeeRefusal | undefined {
  if (!request) return ['request_not_found']
  const { status, amountCents } = request
  if (status !== 'open')
    return ['request_not_open', `requestId: the request is ${status}, and cannot be paid.`]
  if (amount === amountCents) return undefined
  return [
    'request_other_amount',
    `amountEuros: the outstanding amount of the request is ${formatMoney(amountCents)}, not ${formatMoney(amount)}. Declare the outstanding amount.`,
  ]
}

type Lookup = Pick<RunningService, 'findPayables'>

export async function findPayeeRequests(
  sql: Sql,
  mode: Mode,
  ids: readonly string[],
  { findPayables }: Lookup,
): Promise<ReadonlyMap<string, RequestPayee>> {
  const requests = ids.length > 0 ? await findPayables(ids, mode, sql) : []
  if (requests.length === 0) return new Map()
  const wallets = await findPayableWallets(sql, { mode }, { ids: requests.map(({ walletId }) => walletId) })
  const ibans = new Map(wallets.map(({ id, iban }) => [id, iban]))
  return new Map(
    requests.map(request => [request.id, { ...request, iban: ibans.get(request.walletId) ?? null }]),
  )
}

export async function resolvePayees(
  sql: Sql,
  tenant: Tenant,
  references: readonly IntentPayeeReference[],
  lookup: Lookup,
): Promise<ResolvedPayees> {
  const wallets = references.flatMap(({ walletId }) => walletId ?? [])
  const beneficiaries = references.flatMap(({ beneficiaryId }) => beneficiaryId ?? [])
  const requests = references.flatMap(({ requestId }) => requestId ?? [])
  return new ResolvedPayees(
    wallets.length > 0 ? await walletsById(sql, tenant, wallets) : new Map(),
    beneficiaries.length > 0 ? await beneficiariesById(sql, tenant, beneficiaries) : new Map(),
    await findPayeeRequests(sql, tenant.mode, requests, lookup),
  )
}

/**
 * The spend for risk scoring. Omits the country if a transfer pays it, since a transfer does not show where
 * the agent is.
 */
export const riskScoredSpend = <
  T extends { readonly country: string | null; readonly payeeIban?: string | null | undefined },
>(
  spend: T,
): T => (spend.payeeIban ? { ...spend, country: null } : spend)
