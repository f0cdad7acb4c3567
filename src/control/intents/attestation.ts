import type { IntentRow } from './intent-rows.ts'

/** Who can tell whether a passkey stands behind an approval, and since when. */
export interface Attestor {
  /** Null where none does. */
  attestedAt(intent: IntentRow): Date | null
}

/** Where nobody can enrol a passkey, none stands behind anything. */
export const noPasskeys: Attestor = { attestedAt: () => null }
