import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { FilePreviewResult } from '../../ports/viewer.ts'
import { clock } from '../../values/clock.ts'
import type { FileKind } from '../../values/file-kind.ts'
import type { DocumentFacts, ViewerReply, ViewerRequest } from './messages.ts'

/**
 * Limits for one file, ten times what an honest receipt needs. The seconds are processor time; on a busy
 * machine they may take `waitSeconds`.
 */
const LIMITS = { seconds: 5, waitSeconds: 25, mib: 256 } as const
/** The process is replaced after this many files, which removes anything that they left behind. */
const MOST_FILES = 50
const IDLE_MS = 30_000
/** A process that holds more than this after a file has no room for the next one. */
const SPENT_MIB = 160
const LOOK_EVERY_MS = 20

type End = { readonly over: string }

/**
 * Renders files, one after the other. The process has no secret, no environment, and no right to write or to
 * start anything; one that exceeds a limit is killed, and the next file gets a new one.
 */
export class ViewerProcess {
  readonly #entry: string
  #child: ChildProcess | undefined
  #files = 0
  #stayAwake: () => void = () => undefined

  constructor(entry: string) {
    this.#entry = entry
  }

  async render(bytes: Uint8Array, kind: FileKind): Promise<FilePreviewResult> {
    let facts: DocumentFacts | undefined
    const reply = await this.#request({ bytes, kind }, known => {
      facts = known
    })
    if ('view' in reply) return reply.view
    if ('problem' in reply) return reply
    if ('unseen' in reply) return this.#plain(reply.unseen)
    if (facts) return this.#plain(facts)
    return { problem: 'over' in reply ? reply.over : 'cannot be read' }
  }

  async #plain(facts: DocumentFacts): Promise<FilePreviewResult> {
    const reply = await this.#request({ plain: { pages: facts.pages } }, () => undefined)
    if (!('pictures' in reply)) throw new Error('no plain picture can be made')
    return { ...facts, ...reply.pictures, isPlain: true }
  }

  #request(request: ViewerRequest, onFacts: (facts: DocumentFacts) => void): Promise<ViewerReply | End> {
    this.#stayAwake()
    const child = this.#running()
    const { promise, resolve } = Promise.withResolvers<ViewerReply | End>()
    const end = (over: string) => {
      child.kill('SIGKILL')
      this.#child = undefined
      resolve({ over })
    }
    const onMessage = (reply: ViewerReply) => ('facts' in reply ? onFacts(reply.facts) : resolve(reply))
    const onExit = () => end('cannot be read: rendering it failed')
    child.on('message', onMessage).once('exit', onExit)
    const stop = watched(child, end)
    child.send(request)
    return promise.finally(() => {
      stop()
      child.off('message', onMessage).off('exit', onExit)
      this.#rest()
    })
  }

  #running(): ChildProcess {
    this.#files++
    if (this.#child) return this.#child
    this.#files = 1
    const child = fork(this.#entry, [], {
      serialization: 'advanced',
      env: {},
      execArgv: [
        '--permission',
        '--allow-addons',
        '--allow-fs-read=*',
        '--max-old-space-size=128',
        '--no-warnings',
      ],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.on('error', () => undefined)
    child.unref()
    child.channel?.unref()
    this.#child = child
    return child
  }

  #rest(): void {
    if (this.#files >= MOST_FILES || residentMib(this.#child?.pid) > SPENT_MIB) this.#stop()
    else this.#stayAwake = clock.alarm(IDLE_MS, () => this.#stop())
  }

  #stop(): void {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }
}

/** Kills a process that exceeds its time or memory; the returned function ends the watch. */
function watched({ pid }: ChildProcess, end: (over: string) => void): () => void {
  const tooLate = `took longer than ${LIMITS.seconds} seconds to render`
  const tooMuch = `needs more than ${LIMITS.mib} MiB of memory to render`
  const usedBefore = cpuSeconds(pid)
  const stopLate = clock.alarm(LIMITS.waitSeconds * 1_000, () => end(tooLate))
  let stopNext: () => void = () => undefined
  const look = () => {
    if (residentMib(pid) > LIMITS.mib) return end(tooMuch)
    if (cpuSeconds(pid) - usedBefore > LIMITS.seconds) return end(tooLate)
    stopNext = clock.alarm(LOOK_EVERY_MS, look)
  }
  look()
  return () => {
    stopLate()
    stopNext()
  }
}

const PAGE = 4_096
const MIB = 1_048_576
/** Linux counts the processor time of a process in hundredths of a second. */
const TICKS = 100

/** Linux only; elsewhere only the limits of heap and time apply. */
const procFile = (pid: number | undefined, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

const residentMib = (pid: number | undefined): number =>
  (Number(procFile(pid, 'statm').split(' ')[1] ?? 0) * PAGE) / MIB

/** A program's name may contain spaces: the figures follow its closing bracket. */
function cpuSeconds(pid: number | undefined): number {
  const [user = 0, system = 0] =
    procFile(pid, 'stat').split(') ').at(-1)?.split(' ').slice(11, 13).map(Number) ?? []
  return (user + system) / TICKS
}
