import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { foldMerchant } from '../merchants/index.ts'

/** Whom a request says that it pays. */
export interface Saying {
  readonly merchant?: string | undefined
  readonly country: string | null
  readonly beneficiaryId: string | null
  readonly walletId: string | null
}

/** Who is paid, for every rule; an account where it is a record of the owner's. */
export interface Payee {
  readonly merchant: string
  readonly payeeIban: string | null
  readonly country: string | null
}

/** What is paid is the record that is named, whatever else is said of it. */
export class Payees {
  readonly #wallets: ReadonlyMap<string, WalletRow>
  readonly #beneficiaries: ReadonlyMap<string, PayeeRow>

  constructor(wallets: ReadonlyMap<string, WalletRow>, beneficiaries: ReadonlyMap<string, PayeeRow>) {
    this.#wallets = wallets
    this.#beneficiaries = beneficiaries
  }

  /** The record that is named and not there. */
  missing({ beneficiaryId, walletId }: Saying) {
    if (walletId && !this.#wallets.has(walletId)) return 'wallet_not_found'
    return beneficiaryId && !this.#beneficiaries.has(beneficiaryId) ? 'beneficiary_not_found' : undefined
  }

  of(saying: Saying): Payee {
    const record = this.#recordOf(saying)
    const { merchant = '', country } = saying
    if (!record) return { merchant, country, payeeIban: null }
    return { merchant: record.name, payeeIban: record.iban, country: record.country ?? country }
  }

  /** In words, where a request says otherwise of its payee than the payee's record. */
  contradiction(saying: Saying): string | undefined {
    const payee = this.of(saying)
    const { merchant, country } = saying
    if (merchant !== undefined && foldMerchant(merchant) !== foldMerchant(payee.merchant))
      return `merchant: ${merchant} is not whom this pays: that is ${payee.merchant}. Leave it out.`
    if (country !== null && country !== payee.country)
      return `country: ${payee.merchant} is in ${payee.country}, not in ${country}. Leave it out.`
    return undefined
  }

  #recordOf({ beneficiaryId, walletId }: Saying) {
    const wallet = walletId ? this.#wallets.get(walletId) : undefined
    if (wallet) return { name: wallet.name, iban: wallet.iban, country: null }
    return beneficiaryId ? this.#beneficiaries.get(beneficiaryId) : undefined
  }
}

/** Read where somebody names one: most intents do not. */
export async function openPayees(sql: Sql, tenant: Tenant, all: readonly Saying[]): Promise<Payees> {
  const wallets = all.flatMap(({ walletId }) => walletId ?? [])
  const beneficiaries = all.flatMap(({ beneficiaryId }) => beneficiaryId ?? [])
  return new Payees(
    wallets.length > 0 ? await walletsById(sql, tenant, wallets) : new Map(),
    beneficiaries.length > 0 ? await payeesById(sql, tenant, beneficiaries) : new Map(),
  )
}

/** What is asked of risk: no agent travels to whom it pays by a transfer. */
export const travelled = <
  T extends { readonly country: string | null; readonly payeeIban?: string | null | undefined },
>(
  spend: T,
): T => (spend.payeeIban ? { ...spend, country: null } : spend)
