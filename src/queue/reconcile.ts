export type Reconciler = { look(): Promise<void> }
