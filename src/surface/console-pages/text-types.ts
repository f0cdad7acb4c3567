/** How an intent stands for the person who looks at it. */
export const approvalStates = ['created', 'approved', 'denied', 'cancelled', 'expired', 'completed'] as const
export type ApprovalState = (typeof approvalStates)[number]

export type Role = 'owner' | 'approver' | 'viewer'

/** What the pages say to somebody who is signed in or wants to be. */
export interface SignInTexts {
  readonly title: string
  readonly lead: string
  readonly button: string
  readonly linkTitle: string
  readonly linkLead: string
  readonly linkButton: string
  readonly other: string
  /** For whoever has started the service: the sentence ends with `recovery`, which is a link. */
  readonly own: string
  readonly recovery: string
}

export interface JoinTexts {
  readonly title: string
  readonly lead: string
  readonly button: string
  readonly passkeyTitle: string
  readonly passkeyLead: string
  readonly passkeyName: string
  readonly passkeyNameHint: string
  readonly passkeyDefault: string
  readonly passkeyButton: string
  readonly noLink: string
}

export interface ApproveTexts {
  readonly marks: Readonly<Record<ApprovalState, string>>
  readonly to: string
  readonly purpose: string
  readonly decideBy: string
  readonly decide: string
  readonly youSign: string
  readonly noPasskey: string
  readonly approve: string
  readonly deny: string
  readonly reason: string
  readonly mayNot: (role: string) => string
  readonly details: string
  readonly payee: string
  readonly ways: Readonly<Record<'merchant' | 'beneficiary' | 'wallet' | 'request' | 'token', string>>
  readonly atMost: string
  readonly atMostHint: string
  readonly agent: string
  readonly run: string
  readonly account: string
  readonly asked: string
  readonly reasons: string
  readonly obstacles: string
  readonly notices: string
  readonly limits: string
  readonly noLimits: string
  readonly left: (remaining: string, limit: string) => string
  /** Of a limit for each payment, of which nothing is used up. */
  readonly each: (limit: string) => string
  readonly leftMinutes: (remaining: number) => string
  readonly leftCount: (remaining: number, limit: number) => string
  /** What each end means, by whom and when. */
  readonly ends: Readonly<Record<Exclude<ApprovalState, 'created'>, (by: string, at: string) => string>>
  readonly comment: string
  readonly payments: Readonly<
    Record<'under_way' | 'completed' | 'rejected' | 'returned' | 'cancelled', string>
  >
  /** Where another sum was paid than the one that was approved. */
  readonly paid: (sum: string, approved: string) => string
  readonly proof: string
  readonly proofLink: string
  readonly proofHint: string
  readonly deciders: Readonly<Record<'policy' | 'key' | 'operator' | 'mandate', string>>
  readonly unknown: string
  readonly unknownHint: string
}

/** How a terminal that asks for a key stands for the person who looks at its page. */
export const pairingStates = ['pending', 'approved', 'denied', 'paired', 'void', 'expired'] as const
export type PairingState = (typeof pairingStates)[number]
type PairingEnd = Exclude<PairingState, 'pending'>

/** What the page says where a command line is let in. */
export interface DeviceTexts {
  readonly title: string
  readonly lead: string
  readonly code: string
  readonly codeHint: string
  readonly look: string
  readonly question: string
  readonly onlyIf: string
  readonly details: string
  readonly name: string
  readonly type: string
  readonly types: Readonly<Record<'sdk' | 'cli' | 'mcp' | 'api' | 'browser' | 'other', string>>
  readonly id: string
  readonly shows: string
  readonly address: string
  readonly asked: string
  readonly bound: string
  readonly toolWrites: string
  readonly rights: string
  readonly lasts: string
  readonly scopes: string
  readonly withheld: string
  readonly approve: string
  readonly deny: string
  readonly approved: string
  readonly approvedHint: string
  readonly denied: string
  readonly deniedHint: string
}

export interface PairingTexts {
  readonly title: string
  readonly lead: string
  readonly codeIs: string
  readonly onlyIf: string
  readonly marks: Readonly<Record<PairingState, string>>
  readonly ended: Readonly<Record<PairingEnd, string>>
  readonly hints: Readonly<Record<PairingEnd, string>>
  readonly details: string
  readonly device: string
  readonly address: string
  readonly asked: string
  readonly until: string
  readonly rights: string
  readonly allRights: string
  readonly rightsOf: (role: string) => string
  readonly whichRights: (count: number) => string
  readonly toolWrites: string
  readonly approve: string
  readonly deny: string
  readonly unknown: string
  readonly unknownHint: string
}

export interface WaitingTexts {
  readonly title: string
  readonly lead: string
  readonly none: string
  readonly more: string
  readonly until: string
}

/** What every page has. */
export interface FrameTexts {
  readonly brand: string
  readonly skip: string
  readonly signOut: string
  readonly roles: Readonly<Record<Role, string>>
  readonly test: string
  readonly noScript: string
  /** What is said where a script does not arrive. */
  readonly incomplete: string
  readonly otherHostTitle: string
  readonly otherHost: (host: string) => string
  readonly otherHostLink: string
  readonly noPasskeysTitle: string
  readonly noPasskeys: string
  readonly home: string
}

/** What the scripts say, by the names that they use. */
export interface ScriptTexts {
  readonly wait: string
  readonly letIn: string
  readonly touch: string
  readonly approved: string
  readonly denied: string
  readonly changed: string
  readonly readAgain: string
  readonly joined: string
  readonly enrolled: string
  readonly unsupported: string
  readonly notAllowed: string
  readonly enrolledAlready: string
  readonly noPasskey: string
  readonly noPasskeyHere: string
  readonly paired: string
  readonly turnedAway: string
  readonly offline: string
  readonly other: string
}

export interface Texts {
  readonly frame: FrameTexts
  readonly signIn: SignInTexts
  readonly join: JoinTexts
  readonly approve: ApproveTexts
  readonly waiting: WaitingTexts
  readonly pairing: PairingTexts
  readonly device: DeviceTexts
  readonly script: ScriptTexts
}
