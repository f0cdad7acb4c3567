export type PrintLine = (line: string) => void

const EVERY_MS = 5_000

export async function withProgress<T>(tell: PrintLine, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const timer = setInterval(() => {
    tell(`  still working after ${Math.round((performance.now() - began) / 1000)} s`)
  }, EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
