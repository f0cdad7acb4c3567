/** Real time is for signatures, tokens, rate limits and idempotency; business rules use the tenant's time. */
export const clock = {
  real: (): Date => new Date(),
  milliseconds: (): number => Date.now(),
  ticks: (): number => performance.now(),
  /** Calls `ring` once; the returned function cancels it. */
  alarm(milliseconds: number, ring: () => void): () => void {
    const timer = setTimeout(ring, milliseconds)
    return () => clearTimeout(timer)
  },
  /** In test mode the owner may have moved it forward. */
  tenant: (offsetMs: number): Date => new Date(Date.now() + offsetMs),
}
