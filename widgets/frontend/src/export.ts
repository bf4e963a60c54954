export async function exportAs(_kind: string, _view: unknown, _bundle: () => Promise<string>, _note: (text: string) => void): Promise<void> {}
