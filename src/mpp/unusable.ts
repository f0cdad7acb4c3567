/** The answer for something from outside that cannot be used. A class, so that no JSON from outside can look like it. */
export class Unusable {
  /** A sentence that says why, and repeats no secret. */
  readonly problem: string

  constructor(problem: string) {
    this.problem = problem
  }
}

export const problem = (sentence: string): Unusable => new Unusable(sentence)

export const isUnusable = (value: unknown): value is Unusable => value instanceof Unusable
