import { type Ran, runCommand } from '../support/command.ts'

type Given = NonNullable<Parameters<typeof runCommand>[1]>

/** Runs a command that continues until it is interrupted. */
export function following(argv: readonly string[], given: Given) {
  const interruption = new AbortController()
  const { signal } = interruption
  let [out, err] = ['', '']
  const ended: Promise<Ran> = runCommand(argv, {
    ...given,
    signal,
    onOutput: text => {
      out += text
    },
    onError: text => {
      err += text
    },
    // One turn of the event loop, so that other work progresses.
    wait: () =>
      new Promise((resolve, reject) =>
        setImmediate(() => (signal.aborted ? reject(signal.reason) : resolve())),
      ),
  })
  return {
    ended,
    lines: () => out.split('\n').slice(0, -1),
    out: () => out,
    err: () => err,
    end(): Promise<Ran> {
      interruption.abort()
      return ended
    },
  }
}
