import type { Euros } from '../../values/money.ts'
import type { Viewer } from './layout.ts'
import type { ApprovalState, ApproveTexts } from './text-types.ts'

/** One rule with what it says, and its figures in its own unit. */
export interface ShownCheck {
  readonly rule: string
  readonly limit: number | null
  readonly used: number | null
  readonly remaining: number | null
  readonly message: string
}

/** What the page shows of an intent. Names and texts are as others have given them: the page makes them plain. */
export interface ApprovalView {
  readonly id: string
  readonly state: ApprovalState
  /** Changes whenever the page would show something else. */
  readonly version: string
  readonly isTest: boolean
  readonly account: string
  readonly amountEuros: Euros
  /** With the tolerance of the policy. */
  readonly largestEuros: Euros
  readonly payee: string
  readonly iban: string | null
  readonly way: keyof ApproveTexts['ways']
  readonly purpose: string
  readonly agent: string
  readonly run: { readonly id: string; readonly name: string } | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly reasons: readonly ShownCheck[]
  /** What would refuse an approval at this moment. */
  readonly obstacles: readonly ShownCheck[]
  /** What would not refuse an approval, and holds up the payment after it. */
  readonly notices: readonly ShownCheck[]
  readonly limits: readonly ShownCheck[]
  readonly decidedAt: Date
  /** A person’s name, or the kind of decider. */
  readonly decidedBy: { readonly type: string; readonly name: string | null } | null
  readonly comment: string | null
  readonly payment: keyof ApproveTexts['payments'] | null
  /** What the payment was of in the end: a merchant may take less than was approved. */
  readonly paidEuros: bigint | null
  readonly hasProof: boolean
  readonly viewer: Viewer
  readonly mayDecide: boolean
}
