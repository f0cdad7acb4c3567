import type { Process } from '../../kernel/contract/process.ts'

/** Begins with the request; ends when the archive can be downloaded no more. */
export const exportProcess = {
  name: 'gdpr-export',
  title: 'Export of personal data',
  details: `Somebody has asked for what is held about a person. The run makes the archive ready at once, and ends after seven days, when it can be downloaded no more.

No signal changes anything here. *Request Cancellation* changes nothing.`,
} as const satisfies Process
