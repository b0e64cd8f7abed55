/**
 * Reads a list page by page, as long as there is another; leaving the loop reads no more.
 * @param read reads the page of a token, empty for the first
 */
export async function* pages<Page extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  for (let pageToken = "", more = true; more; more = pageToken !== "") {
    const page = await read(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  }
}
