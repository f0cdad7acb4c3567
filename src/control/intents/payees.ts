import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Payable } from '../../kernel/contract/payables.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { isPurse, payableWallets, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { type Cents, formatMoney } from '../../values/money.ts'
import { foldMerchant } from '../merchants/index.ts'

export interface TokenPayee {
  readonly id: string
  readonly name: string
  readonly iban: string | null
}

export interface PayeeReference {
  readonly merchant?: string | undefined
  readonly country: string | null
  readonly beneficiaryId: string | null
  readonly walletId: string | null
  readonly requestId: string | null
  readonly paymentToken?: TokenPayee
}

/** The payee that the rules judge. The IBAN is known if the payee is a record of the service. */
export interface Payee {
  readonly merchant: string
  readonly payeeIban: string | null
  readonly country: string | null
}

interface RequestPayee extends Payable {
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
export class Payees {
  readonly #wallets: ReadonlyMap<string, WalletRow>
  readonly #beneficiaries: ReadonlyMap<string, PayeeRow>
  readonly #requests: ReadonlyMap<string, RequestPayee>

  constructor(
    wallets: ReadonlyMap<string, WalletRow>,
    beneficiaries: ReadonlyMap<string, PayeeRow>,
    requests: ReadonlyMap<string, RequestPayee>,
  ) {
    this.#wallets = wallets
    this.#beneficiaries = beneficiaries
    this.#requests = requests
  }

  refusalOf({ beneficiaryId, walletId, requestId }: PayeeReference, amount: Cents): PayeeRefusal | undefined {
    const wallet = walletId ? this.#wallets.get(walletId) : undefined
    if (walletId && !wallet) return ['wallet_not_found']
    if (wallet && isPurse(wallet)) return ['wallet_of_card']
    if (beneficiaryId && !this.#beneficiaries.has(beneficiaryId)) return ['beneficiary_not_found']
    return requestId ? requestRefusal(this.#requests.get(requestId), amount) : undefined
  }

  resolve({
    merchant = '',
    country,
    beneficiaryId,
    walletId,
    requestId,
    paymentToken,
  }: PayeeReference): Payee {
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

  contradiction(reference: PayeeReference): string | undefined {
    const payee = this.resolve(reference)
    const { merchant, country } = reference
    if (merchant !== undefined && foldMerchant(merchant) !== foldMerchant(payee.merchant))
      return `merchant: ${merchant} is not the payee ${payee.merchant}. Leave it out.`
    if (country !== null && country !== payee.country)
      return `country: ${payee.merchant} is in ${payee.country}, not in ${country}. Leave it out.`
    return undefined
  }
}

/** A payment request is paid while it is open, and as a whole, so the intent must have its exact amount. */
export function requestRefusal(request: Payable | undefined, amount: Cents): PayeeRefusal | undefined {
  if (!request) return ['request_not_found']
  const { status, amountCents } = request
  if (status !== 'open')
    return ['request_not_open', `requestId: the request is ${status}, and cannot be paid.`]
  if (amount === amountCents) return undefined
  return [
    'request_other_amount',
    `amountEuros: ${formatMoney(amountCents)} are outstanding for the request, not ${formatMoney(amount)}. Declare that amount.`,
  ]
}

type Lookup = Pick<Ports, 'findPayables'>

export async function findRequests(
  sql: Sql,
  mode: Mode,
  ids: readonly string[],
  { findPayables }: Lookup,
): Promise<ReadonlyMap<string, RequestPayee>> {
  const requests = ids.length > 0 ? await findPayables(ids, mode, sql) : []
  if (requests.length === 0) return new Map()
  const wallets = await payableWallets(sql, { mode }, { ids: requests.map(({ walletId }) => walletId) })
  const ibans = new Map(wallets.map(({ id, iban }) => [id, iban]))
  return new Map(
    requests.map(request => [request.id, { ...request, iban: ibans.get(request.walletId) ?? null }]),
  )
}

export async function openPayees(
  sql: Sql,
  tenant: Tenant,
  references: readonly PayeeReference[],
  lookup: Lookup,
): Promise<Payees> {
  const wallets = references.flatMap(({ walletId }) => walletId ?? [])
  const beneficiaries = references.flatMap(({ beneficiaryId }) => beneficiaryId ?? [])
  const requests = references.flatMap(({ requestId }) => requestId ?? [])
  return new Payees(
    wallets.length > 0 ? await walletsById(sql, tenant, wallets) : new Map(),
    beneficiaries.length > 0 ? await payeesById(sql, tenant, beneficiaries) : new Map(),
    await findRequests(sql, tenant.mode, requests, lookup),
  )
}

/**
 * The spend for risk scoring. Omits the country if a transfer pays it, since a transfer does not show where
 * the agent is.
 */
export const spendForRisk = <
  T extends { readonly country: string | null; readonly payeeIban?: string | null | undefined },
>(
  spend: T,
): T => (spend.payeeIban ? { ...spend, country: null } : spend)
