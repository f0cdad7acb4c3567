/** An amount as it is signed: euros with two decimals, such as `25.00`. */
export type AmountText = string

/** Paid by IBAN, to a wallet, or for a payment request. */
export interface StatedPayee {
  readonly name: string
  readonly iban: string | null
  readonly walletId: string | null
}

/** A limit that the mandate does not have is null. */
export interface StatedConstraints {
  readonly perTransactionEuros: AmountText | null
  readonly perDayEuros: AmountText | null
  readonly perMonthEuros: AmountText | null
  readonly totalEuros: AmountText | null
  readonly count: number | null
  readonly merchants: readonly string[] | null
  readonly mccs: readonly string[] | null
  readonly countries: readonly string[] | null
}

/** An assistant that the mandate lets in. Only its host is proven. */
export interface StatedAssistant {
  readonly name: string
  /** The host that published its metadata; null if nothing proves who it is. */
  readonly host: string | null
  /** The host, or the scheme of an app, that gets the answer. */
  readonly redirectsTo: string
  readonly tools: readonly string[]
}

/** An identity provider whose people may sign in, with roles by their groups. */
export interface StatedProvider {
  readonly issuer: string
  readonly clientId: string | null
  readonly groupsClaim: string
  readonly ownerGroups: readonly string[]
  readonly approverGroups: readonly string[]
  readonly viewerGroups: readonly string[]
}

/** A change by which more may be spent, or others are paid or approve: whose, which rule or right, and its values in words. */
export interface StatedWidening {
  readonly of:
    | 'account'
    | 'agent'
    | 'beneficiary'
    | 'card'
    | 'identity provider'
    | 'mandate'
    | 'network token'
    | 'payment request'
    | 'person'
    | 'run'
    | 'template'
    | 'transfer'
    | 'wallet'
  readonly id: string
  readonly name: string | null
  readonly field: string
  readonly from: string
  readonly to: string
}

export interface Subjects {
  readonly intent: {
    readonly intentId: string
    readonly agentId: string
    readonly amountEuros: AmountText
    /** The most that may be charged: the amount with the tolerance of the policy. */
    readonly largestEuros: AmountText
    readonly currency: string
    readonly payee: StatedPayee & { readonly requestId: string | null }
    readonly agentName: string
    readonly purpose: string
    readonly person: string | null
  }
  readonly payment: {
    readonly totalEuros: AmountText
    readonly currency: string
    readonly payees: readonly (StatedPayee & { readonly amountEuros: AmountText })[]
    readonly fromWalletId: string
  }
  readonly mandate: {
    readonly agentId: string
    readonly constraints: StatedConstraints
    readonly expiresAt: string
    /** Set if the mandate connects an assistant. */
    readonly assistant?: StatedAssistant
  }
  readonly revocation: { readonly passkeyId: string; readonly name: string }
  readonly enrolment: { readonly personId: string; readonly name: string }
  /** A new person; a new link, or another role, for an existing one; or an identity provider. */
  readonly invitation:
    | { readonly name: string; readonly email: string | null; readonly role: string }
    | { readonly personId: string; readonly email?: string }
    | { readonly personId: string; readonly name: string; readonly role: string }
    | StatedProvider
  readonly key:
    | {
        readonly name: string
        readonly environment: string
        /** Null: all scopes that the signer has. */
        readonly scopes: readonly string[] | null
        /** Set if the key may write through an assistant's tools (MCP). */
        readonly toolWrites?: true
      }
    | { readonly keyId: string; readonly name: string }
  /** A person is erased, or the owner together with the account. */
  readonly deletion: { readonly subjectType: string; readonly subjectId: string }
  readonly device: {
    readonly deviceId: string
    readonly deviceName: string
    readonly clientType: string
    readonly scopes: readonly string[]
    readonly userCode: string
    /** Set if its key may write through an assistant's tools (MCP). */
    readonly toolWrites?: true
  }
  /** A command line that is paired: it shows the code, and gets a key. */
  readonly pairing: {
    readonly deviceName: string
    readonly pairingCode: string
    /** Null: all scopes. */
    readonly scopes: readonly string[] | null
    /** Set if its key may write through an assistant's tools (MCP). */
    readonly toolWrites?: true
  }
  readonly widening: { readonly changes: readonly StatedWidening[] }
  readonly registration: { readonly personId: string }
  readonly sign_in: Readonly<Record<never, never>>
}

export type Kind = keyof Subjects
