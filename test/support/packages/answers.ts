import { jest } from '@jest/globals'

/** A client's answer, or how its connection breaks. */
export type Answer = Response | Error | ((init: RequestInit) => Promise<Response>)

export const json = (body: object, init: ResponseInit = {}): Response => Response.json(body, init)
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  json(
    { error: 'A sentence.' },
    { status, headers: { 'x-error-code': code, 'x-request-id': 'r1', ...headers } },
  )
export const broken = (): Error => new TypeError('fetch failed', { cause: new Error('the connection broke') })

/** Runs a call whose pauses elapse at once, and returns them in milliseconds. */
export async function withoutWaiting<T>(
  call: () => Promise<T>,
): Promise<{ outcome: PromiseSettledResult<T>; pauses: number[] }> {
  const pauses: number[] = []
  const timeouts = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((ring: () => void, ms = 0) => {
    if (ms >= 60_000) return 0
    pauses.push(ms)
    queueMicrotask(ring)
    return 0
  }) as never)
  const [outcome] = await Promise.allSettled([call()])
  timeouts.mockRestore()
  return { outcome, pauses }
}
