import { type Ran, runCommand } from '../support/command.ts'

type Given = NonNullable<Parameters<typeof runCommand>[1]>

/** Runs a command that goes on until it is interrupted. */
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
    // A turn of the event loop: the others must have theirs.
    wait: () =>
      new Promise((resolve, reject) =>
        setImmediate(() => (signal.aborted ? reject(signal.reason) : resolve())),
      ),
  })
  return {
    ended,
    /** The whole lines so far. */
    lines: () => out.split('\n').slice(0, -1),
    out: () => out,
    err: () => err,
    end(): Promise<Ran> {
      interruption.abort()
      return ended
    },
  }
}
