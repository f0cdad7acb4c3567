import type { IntentRow } from './intent-rows.ts'

/** Tells since when a passkey has attested the approval of an intent. */
interface Attestor {
  /** Null if no passkey has. */
  attestedAt(intent: IntentRow): Date | null
}

/** The attestor of an installation without passkeys. */
export const noPasskeys: Attestor = { attestedAt: () => null }
