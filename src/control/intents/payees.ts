import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { isPurse, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { foldMerchant } from '../merchants/index.ts'

/** The payee as a request names it. */
export interface PayeeReference {
  readonly merchant?: string | undefined
  readonly country: string | null
  readonly beneficiaryId: string | null
  readonly walletId: string | null
}

/** The payee that the rules judge; the IBAN is known if the payee is a record of the owner. */
export interface Payee {
  readonly merchant: string
  readonly payeeIban: string | null
  readonly country: string | null
}

/** The records that requests name as payees. Their name, IBAN and country count, not what a request says beside them. */
export class Payees {
  readonly #wallets: ReadonlyMap<string, WalletRow>
  readonly #beneficiaries: ReadonlyMap<string, PayeeRow>

  constructor(wallets: ReadonlyMap<string, WalletRow>, beneficiaries: ReadonlyMap<string, PayeeRow>) {
    this.#wallets = wallets
    this.#beneficiaries = beneficiaries
  }

  /** The refusal for a named record that does not exist, or that cannot be paid. */
  unusableRecord({ beneficiaryId, walletId }: PayeeReference) {
    const wallet = walletId ? this.#wallets.get(walletId) : undefined
    if (walletId && !wallet) return 'wallet_not_found'
    if (wallet && isPurse(wallet)) return 'wallet_of_card'
    return beneficiaryId && !this.#beneficiaries.has(beneficiaryId) ? 'beneficiary_not_found' : undefined
  }

  resolve({ merchant = '', country, beneficiaryId, walletId }: PayeeReference): Payee {
    const wallet = walletId ? this.#wallets.get(walletId) : undefined
    if (wallet) return { merchant: wallet.name, payeeIban: wallet.iban, country }
    const beneficiary = beneficiaryId ? this.#beneficiaries.get(beneficiaryId) : undefined
    if (!beneficiary) return { merchant, country, payeeIban: null }
    const { name, iban } = beneficiary
    return { merchant: name, payeeIban: iban, country: beneficiary.country ?? country }
  }

  /** A sentence about what the request says otherwise than the payee's record; undefined if they agree. */
  contradiction(reference: PayeeReference): string | undefined {
    const payee = this.resolve(reference)
    const { merchant, country } = reference
    if (merchant !== undefined && foldMerchant(merchant) !== foldMerchant(payee.merchant))
      return `merchant: ${merchant} is not whom this pays: that is ${payee.merchant}. Leave it out.`
    if (country !== null && country !== payee.country)
      return `country: ${payee.merchant} is in ${payee.country}, not in ${country}. Leave it out.`
    return undefined
  }
}

/** Reads nothing if no request names a record, as most intents do not. */
export async function openPayees(
  sql: Sql,
  tenant: Tenant,
  references: readonly PayeeReference[],
): Promise<Payees> {
  const wallets = references.flatMap(({ walletId }) => walletId ?? [])
  const beneficiaries = references.flatMap(({ beneficiaryId }) => beneficiaryId ?? [])
  return new Payees(
    wallets.length > 0 ? await walletsById(sql, tenant, wallets) : new Map(),
    beneficiaries.length > 0 ? await payeesById(sql, tenant, beneficiaries) : new Map(),
  )
}

/** The spend as the risk is scored: without the country if a transfer pays it, as no agent travels to its payee then. */
export const spendForRisk = <
  T extends { readonly country: string | null; readonly payeeIban?: string | null | undefined },
>(
  spend: T,
): T => (spend.payeeIban ? { ...spend, country: null } : spend)
