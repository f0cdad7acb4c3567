import type { Compose, Service } from './compose.ts'
import type { Image } from './image.ts'

export interface Parts {
  /** Ours. */
  readonly image: Image
  /** The folder with the programs of Temporal's images. */
  readonly temporal: string
  /** Where data and logs go. */
  readonly folder: string
  readonly tell: (line: string) => void
  /** Whatever is opened says how it is closed. */
  readonly closeLater: (close: () => unknown) => void
  /** A service that was to stay has ended. */
  readonly onEnd: (name: string) => void
}

/** Where the services are that are up already: `temporal:7233` is at `127.0.0.1:…`. */
export type Addresses = Map<string, string>

/** A service as this machine is to run it. */
export interface Start extends Parts {
  readonly name: string
  readonly service: Service
  readonly compose: Compose
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly addresses: Addresses
}
