def write_report(panels, title, text, versions, path):
    pass
